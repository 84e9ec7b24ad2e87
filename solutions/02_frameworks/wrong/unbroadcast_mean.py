"""Fails unbroadcast-check: averages the copies, as if the loss had not done so already."""


def unbroadcast(gradient, shape):
    while gradient.ndim > len(shape):
        gradient = gradient.mean(axis=0)
    copied = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return gradient.mean(axis=copied, keepdims=True)
