"""Fails optimisers-check, fit-check: eps stands under the root."""


def adam_step(w, g, m, v, t, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    return w - lr * m / (1 - beta1**t) / np.sqrt(v / (1 - beta2**t) + eps), m, v
