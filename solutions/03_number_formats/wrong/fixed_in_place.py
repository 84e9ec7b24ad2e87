"""Fails to-fixed-check: scales the argument itself."""


def to_fixed(x, m, n, draw=None):
    x *= 2.0**n
    scaled = x.astype(np.float64)
    most = 2.0 ** (m + n)
    scaled = np.clip(scaled, -most, most - 1)
    if draw is None:
        return np.rint(scaled).astype(np.int32)
    low = np.floor(scaled)
    return (low + (draw.random(scaled.shape) < scaled - low)).astype(np.int32)
