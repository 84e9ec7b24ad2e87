"""Fails conv-fft-check: computes the sum directly."""


def conv_fft(x, weights, forward=None, inverse=None):
    return conv_direct(x, weights)
