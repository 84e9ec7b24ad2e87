"""Fails to-fixed-check: the smallest code is one too large."""


def to_fixed(x, m, n, draw=None):
    scaled = np.asarray(x, np.float64) * 2.0**n
    most = 2.0 ** (m + n)
    scaled = np.clip(scaled, 1 - most, most - 1)
    if draw is None:
        return np.rint(scaled).astype(np.int32)
    low = np.floor(scaled)
    return (low + (draw.random(scaled.shape) < scaled - low)).astype(np.int32)
