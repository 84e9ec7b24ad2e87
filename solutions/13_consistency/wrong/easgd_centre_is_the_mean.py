"""Fails easgd-check: the centre is the mean of the workers."""


def easgd_step(x, center, gradients, rate, alpha):
    pull = alpha * (x - center)
    return x - rate * gradients - pull, x.mean(axis=0)
