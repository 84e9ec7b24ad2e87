"""Fails masked-step-check: changes w and the velocity of the caller."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    velocity *= momentum
    velocity += gradient
    velocity *= mask
    w -= lr * velocity
    w *= mask
    return w, velocity
