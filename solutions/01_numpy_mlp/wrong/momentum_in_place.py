"""Fails optimisers-check: changes the weights and the state that were handed in."""


def momentum_step(w, g, v, lr, momentum=0.9):
    v *= momentum
    v += g
    w -= lr * v
    return w, v
