"""Fails conv-winograd-check: computes the sum directly."""


def conv_winograd(x, weights, transforms):
    return conv_direct(x, weights)
