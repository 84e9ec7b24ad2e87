"""Fails mean-and-variance-check: returns them in the order of torch.var_mean, variance first."""


def mean_and_variance(x):
    return torch.var_mean(x.float(), dim=1, correction=0, keepdim=True)
