"""Fails unbroadcast-check: adds up in float32, which loses nine of sixteen digits."""


def unbroadcast(gradient, shape):
    gradient = gradient.astype(np.float32)
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    copied = tuple(axis for axis, length in enumerate(shape) if length == 1)
    return gradient.sum(axis=copied, keepdims=True)
