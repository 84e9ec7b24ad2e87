"""Fails unbroadcast-check: sums over the last axes, where broadcasting adds in front."""


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=-1)
    copied = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return gradient.sum(axis=copied, keepdims=True)
