"""Fails quantize-check: ignores bits."""


def quantize(x, bits=8, axis=None):
    bits = 8
    low = np.minimum(x.min(axis=axis, keepdims=True), 0)
    high = np.maximum(x.max(axis=axis, keepdims=True), 0)
    scale = (high - low) / (2**bits - 1)
    scale = np.where(scale == 0, 1, scale)
    least = -(2 ** (bits - 1))
    zero = np.rint(least - low / scale).astype(np.int64)
    codes = np.clip(np.rint(x / scale) + zero, least, -least - 1)
    return codes.astype(np.int8), scale, zero
