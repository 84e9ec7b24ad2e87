"""Fails synthetic-check: takes the next one in the list."""


def synthetic(x, p: float, s: float, draw: np.random.Generator):
    flat = x.reshape(len(x), -1).astype(np.float64)
    square = (flat**2).sum(axis=1)
    distance = square[:, None] + square - 2 * flat @ flat.T
    np.fill_diagonal(distance, np.inf)
    near = np.roll(x, 1, axis=0)
    changes = draw.random(x.shape) < p
    moved = near + np.abs(x - near) / s * draw.normal(size=x.shape)
    return np.where(changes, moved, x)
