"""Predictions as integers and NumPy numbers with a helper, and a warning printed on the way: none of it costs anything."""

import warnings

GUESS = np.float32(0.5)


def predictions():
    warnings.warn("guessing", stacklevel=2)
    return {
        "wrong labels": GUESS,
        "zero weights": 0,
        "ten times the rate": np.int64(1),
    }


def dropout(x, p, rng):
    print("dropping", p)
    mask = (rng.random(x.shape) >= p) / (1.0 - p)
    return x * mask, mask
