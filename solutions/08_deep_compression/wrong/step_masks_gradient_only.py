"""Fails masked-step-check: an old velocity goes on pushing pruned weights."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    velocity = momentum * velocity + gradient * mask
    return w - lr * velocity, velocity
