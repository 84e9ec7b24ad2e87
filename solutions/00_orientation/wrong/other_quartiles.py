"""Fails median-and-iqr-check: takes the quartiles of `statistics`, which lie further out than linear interpolation."""

from statistics import quantiles


def median_and_iqr(samples):
    if len(samples) == 0:
        raise ValueError("no samples")
    if len(samples) == 1:
        return samples[0], 0.0
    first, median, third = quantiles(samples)
    return median, third - first
