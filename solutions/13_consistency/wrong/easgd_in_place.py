"""Fails easgd-check: changes x."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = alpha * (x - center)
    x -= rate * gradients + pull
    return x, center + pull.sum(axis=0)
