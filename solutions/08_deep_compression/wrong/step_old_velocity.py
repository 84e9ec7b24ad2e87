"""Fails masked-step-check: moves by the velocity of the step before."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    new = (momentum * velocity + gradient) * mask
    return (w - lr * velocity) * mask, new
