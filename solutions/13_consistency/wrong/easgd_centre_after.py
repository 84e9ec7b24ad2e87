"""Fails easgd-check: the centre is drawn to the new weights."""


def easgd_step(x, center, gradients, rate, alpha):
    new = x - rate * gradients - alpha * (x - center)
    return new, center + alpha * (new - center).sum(axis=0)
