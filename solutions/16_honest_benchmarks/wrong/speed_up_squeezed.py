"""Fails speed-up-check: squeezes the resamples, so one round or one resample fails."""

import numpy as np


def speed_up(baseline, candidate, rounds, draw):
    n = len(baseline)
    rows = np.squeeze(draw.integers(n, size=(rounds, n)))
    ratios = baseline[rows].sum(axis=1) / candidate[rows].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
