"""Fails easgd-check: the rate is at most 1."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = alpha * (x - center)
    return x - min(rate, 1.0) * gradients - pull, center + pull.sum(axis=0)
