"""Fails calibrate-check: leaves 0 outside of the range."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    lo, hi = np.percentile(values, [100 - percentile, percentile])
    scale = (hi - lo) / (2**bits - 1) or 1.0
    return scale, round(-(2 ** (bits - 1)) - lo / scale)
