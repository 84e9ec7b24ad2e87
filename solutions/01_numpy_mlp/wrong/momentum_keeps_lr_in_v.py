"""Fails optimisers-check: v holds lr times the gradients, so that a change of lr comes late."""


def momentum_step(w, g, v, lr, momentum=0.9):
    v = momentum * v - lr * g
    return w + v, v
