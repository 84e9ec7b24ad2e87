"""Fails easgd-check: the workers are drawn to the new centre."""


def easgd_step(x, center, gradients, rate, alpha):
    moved = center + alpha * (x - center).sum(axis=0)
    return x - rate * gradients - alpha * (x - moved), moved
