"""Fails easgd-check: alpha is at most one over the number of workers."""


def easgd_step(x, center, gradients, rate: float, alpha: float):
    alpha = min(alpha, 1 / len(x))
    stretch = alpha * (x - center)
    return x - rate * gradients - stretch, center + stretch.sum(axis=0)
