"""Fails easgd-check: one number for all weights."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = alpha * (x - center)
    return x - rate * gradients - pull, center + pull.sum()
