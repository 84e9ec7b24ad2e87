"""Earns nothing of masked-step-check: hands w and velocity back."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    return w, velocity
