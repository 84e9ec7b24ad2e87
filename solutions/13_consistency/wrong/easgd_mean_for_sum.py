"""Fails easgd-check: the centre gets the mean of the pulls."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = alpha * (x - center)
    return x - rate * gradients - pull, center + pull.mean(axis=0)
