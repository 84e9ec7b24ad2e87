"""Fails tune-check: of equal validation means the better test mean wins."""

import numpy as np


def tune(train, rates, seeds):
    best, runs, seconds = None, 0, 0
    for rate in rates:
        found = np.array([train(rate, seed) for seed in seeds])
        runs += len(found)
        seconds += found[:, 2].sum()
        key = found[:, 0].mean(), found[:, 1].mean()
        if best is None or key > best[0]:
            best = key, rate, found[:, 1].std()
    (_, test), rate, spread = best
    return {
        "rate": rate,
        "test": test,
        "spread": spread,
        "runs": runs,
        "seconds": seconds,
    }
