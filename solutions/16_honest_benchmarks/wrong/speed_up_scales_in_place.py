"""Fails speed-up-check: divides both arrays by the baseline's mean in place "for accuracy"."""

import numpy as np


def speed_up(baseline, candidate, rounds, draw):
    scale = baseline.mean()
    baseline /= scale
    candidate /= scale
    n = len(baseline)
    rows = draw.integers(n, size=(rounds, n))
    ratios = baseline[rows].sum(axis=1) / candidate[rows].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
