"""Fails masked-step-check: w is masked, the velocity is not."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    velocity = momentum * velocity + gradient
    return (w - lr * velocity) * mask, velocity
