"""Fails int8-matmul-check: takes the zero point off the sum, once."""


def int8_matmul(a, zero, w, multiplier):
    sums = a.astype(np.int32) @ w.astype(np.int32) - zero
    scaled = np.rint(sums * np.asarray(multiplier, np.float64))
    return np.clip(scaled, -128, 127).astype(np.int8)
