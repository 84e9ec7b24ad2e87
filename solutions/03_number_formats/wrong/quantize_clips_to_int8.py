"""Fails quantize-check: keeps codes in the range of int8, which fewer bits do not have."""


def quantize(x, bits=8, axis=None):
    low = np.minimum(x.min(axis=axis, keepdims=True), 0)
    high = np.maximum(x.max(axis=axis, keepdims=True), 0)
    scale = (high - low) / (2**bits - 1)
    scale = np.where(scale == 0, 1, scale)
    zero = np.rint(-(2 ** (bits - 1)) - low / scale).astype(int)
    codes = np.rint(x / scale) + zero
    return np.clip(codes, -128, 127).astype(np.int8), scale, zero
