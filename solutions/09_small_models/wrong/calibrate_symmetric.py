"""Fails calibrate-check: takes a range symmetric about 0."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    lo, hi = np.percentile(values, [100 - percentile, percentile])
    hi = max(-lo, hi)
    lo = -hi
    scale = (hi - lo) / (2**bits - 1) or 1.0
    return scale, round(-(2 ** (bits - 1)) - lo / scale)
