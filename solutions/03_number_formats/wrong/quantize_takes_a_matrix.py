"""Fails quantize-check: gives one scale for all the shape of a matrix's, whatever x is."""


def quantize(x, bits=8, axis=None):
    if axis is None:
        low, high = np.array([[min(x.min(), 0)]]), np.array([[max(x.max(), 0)]])
    else:
        low = np.minimum(x.min(axis=axis, keepdims=True), 0)
        high = np.maximum(x.max(axis=axis, keepdims=True), 0)
    scale = (high - low) / (2**bits - 1)
    scale = np.where(scale == 0, 1, scale)
    least = -(2 ** (bits - 1))
    zero = np.rint(least - low / scale).astype(int)
    codes = np.clip(np.rint(x / scale + zero), least, -least - 1)
    return codes.astype(np.int8).reshape(x.shape), scale, zero
