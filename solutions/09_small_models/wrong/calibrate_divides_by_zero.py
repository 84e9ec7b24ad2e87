"""Fails calibrate-check: has no scale for zeros."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    lo, hi = np.percentile(values, [100 - percentile, percentile])
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = (hi - lo) / (2**bits - 1)
    return scale, round(-(2 ** (bits - 1)) - lo / scale)
