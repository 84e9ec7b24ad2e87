"""Fails to-fixed-check: adds noise of a whole step either way before rounding."""


def to_fixed(x, m, n, draw=None):
    scaled = np.asarray(x, np.float64) * 2.0**n
    most = 2.0 ** (m + n)
    scaled = np.clip(scaled, -most, most - 1)
    if draw is None:
        return np.rint(scaled).astype(np.int32)
    noise = draw.uniform(-1, 1, scaled.shape)
    return np.clip(np.rint(scaled + noise), -most, most - 1).astype(np.int32)
