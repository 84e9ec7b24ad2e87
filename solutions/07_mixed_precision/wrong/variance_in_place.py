"""Fails mean-and-variance-check: subtracts the mean from the tensor that was handed in."""


def mean_and_variance(x):
    x = x.float()
    mean = x.mean(dim=1, keepdim=True)
    x -= mean
    return mean, (x**2).mean(dim=1, keepdim=True)
