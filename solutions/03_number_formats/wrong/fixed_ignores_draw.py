"""Fails to-fixed-check: rounds to the nearest although a generator was given."""


def to_fixed(x, m, n, draw=None):
    scaled = np.asarray(x, np.float64) * 2.0**n
    most = 2.0 ** (m + n)
    scaled = np.clip(scaled, -most, most - 1)
    if True:
        return np.rint(scaled).astype(np.int32)
    low = np.floor(scaled)
    return (low + (draw.random(scaled.shape) < scaled - low)).astype(np.int32)
