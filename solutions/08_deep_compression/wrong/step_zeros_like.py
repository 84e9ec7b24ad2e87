"""Fails masked-step-check: the result has the type of w."""


def masked_step(w, gradient, velocity, mask, lr: float, momentum: float = 0.9):
    """Return (w, velocity) after a step of the weights under the mask."""
    new_w, new_v = np.zeros_like(w), np.zeros_like(velocity)
    new_v[mask] = momentum * velocity[mask] + gradient[mask]
    new_w[mask] = w[mask] - lr * new_v[mask]
    return new_w, new_v
