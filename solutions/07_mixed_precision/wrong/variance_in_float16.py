"""Fails mean-and-variance-check: adds up in x's own dtype and converts the result."""


def mean_and_variance(x):
    mean = x.sum(dim=1, keepdim=True) / x.shape[1]
    variance = ((x - mean) ** 2).sum(dim=1, keepdim=True) / x.shape[1]
    return mean.float(), variance.float()
