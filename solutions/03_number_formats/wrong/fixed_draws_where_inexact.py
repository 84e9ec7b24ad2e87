"""Fails to-fixed-check: draws fewer numbers than x has entries, so that each decides about another entry."""


def to_fixed(x, m, n, draw=None):
    most = 2.0 ** (m + n)
    scaled = np.clip(x.astype(np.float64) * 2.0**n, -most, most - 1)
    if draw is None:
        return np.rint(scaled).astype(np.int32)
    low = np.floor(scaled)
    between = scaled != low
    low[between] += (
        draw.random(np.count_nonzero(between)) < (scaled - low)[between]
    )
    return low.astype(np.int32)
