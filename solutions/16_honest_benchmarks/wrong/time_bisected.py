"""Fails time-to-accuracy-check: binary search as if accuracies only rose."""

import math

import numpy as np


def time_to_accuracy(run, target):
    k = int(np.searchsorted(run["accuracy"], target))
    if k == len(run["accuracy"]):
        return math.inf
    return run["setup"] + sum(run["epochs"][: k + 1])


def mlperf_mean(times):
    if len(times) < 3:
        raise ValueError("at least three runs")
    kept = sorted(times)[1:-1]
    return sum(kept) / len(kept)
