"""Fails mean-and-variance-check: takes the statistics of each column, over the batch."""


def mean_and_variance(x):
    variance, mean = torch.var_mean(x.float(), dim=0, correction=0)
    return mean[:, None], variance[:, None]
