"""Fails regularisers-check, mlp-check, fit-check: keeps a share p where it should drop it."""


def dropout(x, p, rng):
    mask = (rng.random(x.shape) < p) / (1.0 - p)
    return x * mask, mask
