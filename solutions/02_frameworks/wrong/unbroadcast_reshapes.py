"""Fails unbroadcast-check: takes the first copy instead of the sum of all."""


def unbroadcast(gradient, shape):
    return np.resize(gradient, shape)
