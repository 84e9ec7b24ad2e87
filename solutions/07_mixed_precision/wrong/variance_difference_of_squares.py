"""Fails mean-and-variance-check: the mean of x**2 minus mean**2 cancels its digits."""


def mean_and_variance(x):
    wide = x.float()
    mean = wide.mean(dim=1, keepdim=True)
    return mean, (wide**2).mean(dim=1, keepdim=True) - mean**2
