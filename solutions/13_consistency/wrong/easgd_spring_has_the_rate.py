"""Fails easgd-check: the rate belongs to the gradient only."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = rate * alpha * (x - center)
    return x - rate * gradients - pull, center + pull.sum(axis=0)
