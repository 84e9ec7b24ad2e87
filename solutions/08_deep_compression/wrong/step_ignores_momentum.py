"""Fails masked-step-check: the momentum is 0.9 whatever the argument says."""


def masked_step(w, gradient, velocity, mask, lr, momentum=0.9):
    velocity = (0.9 * velocity + gradient) * mask
    return (w - lr * velocity) * mask, velocity
