"""Fails regularisers-check, mlp-check: one draw a column, so that a unit is dropped for the whole batch."""


def dropout(x, p, rng):
    mask = np.ones(x.shape) * (rng.random(x.shape[-1]) >= p) / (1.0 - p)
    return x * mask, mask
