"""Fails masked-step-check: pruned weights come back."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    velocity = momentum * velocity + gradient
    return w - lr * velocity, velocity
