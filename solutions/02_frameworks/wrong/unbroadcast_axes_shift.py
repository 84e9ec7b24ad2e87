"""Fails unbroadcast-check: numbers the axes in front as they were, though each sum moves those behind it."""


def unbroadcast(gradient, shape):
    if shape == ():
        return gradient.sum()
    for axis in range(gradient.ndim - len(shape)):
        gradient = gradient.sum(axis=axis)
    for axis, n in enumerate(shape):
        if n == 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient
