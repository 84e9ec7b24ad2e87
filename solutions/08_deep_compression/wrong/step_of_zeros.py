"""Earns nothing of masked-step-check: zeros everywhere."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    return np.zeros_like(w), np.zeros_like(velocity)
