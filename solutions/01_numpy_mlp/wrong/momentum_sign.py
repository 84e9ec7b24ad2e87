"""Fails optimisers-check, fit-check: climbs instead of descending."""


def momentum_step(w, g, v, lr, momentum=0.9):
    v = momentum * v + g
    return w + lr * v, v
