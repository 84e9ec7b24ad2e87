"""Fails easgd-check: the centre does not move."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = alpha * (x - center)
    return x - rate * gradients - pull, center.copy()
