"""Fails to-fixed-check: takes the sign bit out of the m bits."""


def to_fixed(x, m, n, draw=None):
    scaled = np.asarray(x, np.float64) * 2.0**n
    most = 2.0 ** (m + n - 1)
    scaled = np.clip(scaled, -most, most - 1)
    if draw is None:
        return np.rint(scaled).astype(np.int32)
    low = np.floor(scaled)
    return (low + (draw.random(scaled.shape) < scaled - low)).astype(np.int32)
