"""Fails col2im-check: writes in the place of adding."""


def col2im(
    columns,
    shape,
    size,
    stride=1,
    padding=0,
):
    (n, c, h, w), (r, s), p = shape, size, padding
    high = (h + 2 * p - r) // stride + 1
    wide = (w + 2 * p - s) // stride + 1
    parts = columns.reshape(n, c, r, s, high, wide)
    x = np.zeros((n, c, h + 2 * p, w + 2 * p), columns.dtype)
    for a in range(r):
        for b in range(s):
            part = x[:, :, a::stride, b::stride][:, :, :high, :wide]
            part[...] = parts[:, :, a, b]
    return x[:, :, p : p + h, p : p + w]
