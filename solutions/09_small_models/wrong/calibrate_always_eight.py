"""Fails calibrate-check: ignores the number of bits."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    lo, hi = np.percentile(values, [100 - percentile, percentile])
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = (hi - lo) / (2**8 - 1) or 1.0
    return scale, round(-(2**7) - lo / scale)
