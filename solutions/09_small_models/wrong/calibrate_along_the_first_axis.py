"""Fails calibrate-check: takes percentiles of each column."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    lo, hi = np.percentile(values, [100 - percentile, percentile], axis=0)
    lo, hi = np.min(lo), np.max(hi)
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = (hi - lo) / (2**bits - 1) or 1.0
    return scale, round(-(2 ** (bits - 1)) - lo / scale)
