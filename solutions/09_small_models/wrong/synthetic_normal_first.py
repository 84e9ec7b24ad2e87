"""Fails synthetic-check: draws in the other order."""


def synthetic(x, p: float, s: float, draw: np.random.Generator):
    flat = x.reshape(len(x), -1).astype(np.float64)
    square = (flat**2).sum(axis=1)
    distance = square[:, None] + square - 2 * flat @ flat.T
    np.fill_diagonal(distance, np.inf)
    near = x[distance.argmin(axis=1)]
    moved = near + np.abs(x - near) / s * draw.normal(size=x.shape)
    changes = draw.random(x.shape) < p
    return np.where(changes, moved, x)
