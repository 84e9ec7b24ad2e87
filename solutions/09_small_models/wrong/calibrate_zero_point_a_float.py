"""Fails calibrate-check: the zero point is a whole number, but a float."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    lo, hi = np.percentile(values, [100 - percentile, percentile])
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = (hi - lo) / (2**bits - 1) or 1.0
    return scale, np.floor(-(2 ** (bits - 1)) - lo / scale + 0.5)
