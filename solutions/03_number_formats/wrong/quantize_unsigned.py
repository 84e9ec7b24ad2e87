"""Fails quantize-check: codes from 0 to 255."""


def quantize(x, bits=8, axis=None):
    low = np.minimum(x.min(axis=axis, keepdims=True), 0)
    high = np.maximum(x.max(axis=axis, keepdims=True), 0)
    scale = (high - low) / (2**bits - 1)
    scale = np.where(scale == 0, 1, scale)
    least = 0
    zero = np.rint(least - low / scale).astype(np.int64)
    codes = np.clip(np.rint(x / scale) + zero, 0, 2**bits - 1)
    return codes.astype(np.uint8), scale, zero
