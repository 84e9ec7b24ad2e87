"""Fails unbroadcast-check: sums axes of length 1 without keeping them."""


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    copied = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return gradient.sum(axis=copied)
