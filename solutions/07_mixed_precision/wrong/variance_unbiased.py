"""Fails mean-and-variance-check: torch's var divides by k - 1 unless told otherwise."""


def mean_and_variance(x):
    wide = x.float()
    return wide.mean(dim=1, keepdim=True), wide.var(dim=1, keepdim=True)
