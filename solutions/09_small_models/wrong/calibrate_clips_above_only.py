"""Fails calibrate-check: clips the upper end only."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    lo, hi = np.percentile(values, [0, percentile])
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = (hi - lo) / (2**bits - 1) or 1.0
    return scale, round(-(2 ** (bits - 1)) - lo / scale)
