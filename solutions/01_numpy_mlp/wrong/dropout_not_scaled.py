"""Fails regularisers-check, mlp-check: survivors are not scaled up, so the network is quieter in training than in use."""


def dropout(x, p, rng):
    mask = (rng.random(x.shape) >= p).astype(float)
    return x * mask, mask
