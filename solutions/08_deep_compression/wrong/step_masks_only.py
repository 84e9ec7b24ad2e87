"""Fails masked-step-check: masks w and velocity, and takes no step."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    return w * mask, velocity * mask
