"""Fails easgd-check: the spring pushes."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = alpha * (x - center)
    return x - rate * gradients + pull, center + pull.sum(axis=0)
