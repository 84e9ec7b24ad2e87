"""Fails calibrate-check: turns a flat view of the values over to descending order."""


def calibrate(values, bits: int = 8, percentile: float = 100.0):
    flat = values.reshape(-1)
    flat[:] = -np.sort(-flat)
    lo, hi = np.percentile(flat, [100 - percentile, percentile])
    lo, hi = min(lo, 0.0), max(hi, 0.0)
    scale = (hi - lo) / (2**bits - 1) or 1.0
    return scale, round(-(2 ** (bits - 1)) - lo / scale)
