"""Fails unbroadcast-check: sums the axes in front and forgets those of length 1."""


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    return gradient
