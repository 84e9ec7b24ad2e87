"""Fails int8-matmul-check: wraps around where it should saturate."""


def int8_matmul(a, zero, w, multiplier):
    sums = (a.astype(np.int32) - zero) @ w.astype(np.int32)
    scaled = np.rint(sums * np.asarray(multiplier, np.float64))
    return scaled.astype(np.int64).astype(np.int8)
