"""Fails quantize-check: a scale of 0 for nothing but zeros."""


def quantize(x, bits=8, axis=None):
    low = np.minimum(x.min(axis=axis, keepdims=True), 0)
    high = np.maximum(x.max(axis=axis, keepdims=True), 0)
    scale = (high - low) / (2**bits - 1)
    scale = scale + 0.0
    least = -(2 ** (bits - 1))
    zero = np.rint(least - low / np.where(scale > 0, scale, 1)).astype(np.int64)
    codes = np.clip(
        np.nan_to_num(np.rint(x / np.where(scale > 0, scale, 1))) + zero,
        least,
        -least - 1,
    )
    return codes.astype(np.int8), scale, zero
