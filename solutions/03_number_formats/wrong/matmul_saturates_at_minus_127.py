"""Fails int8-matmul-check: saturates at -127."""


def int8_matmul(a, zero, w, multiplier):
    sums = (a.astype(np.int32) - zero) @ w.astype(np.int32)
    scaled = np.rint(sums * np.asarray(multiplier, np.float64))
    return np.clip(scaled, -127, 127).astype(np.int8)
