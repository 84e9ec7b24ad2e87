"""Fails im2col-check: takes the number of rows for that of columns."""


def conv_im2col(x, weights, stride=1, padding=0):
    k, c, r, s = weights.shape
    flat = weights.reshape(k, c * r * s) @ im2col(x, (r, s), stride, padding)
    rows = (x.shape[2] + 2 * padding - r) // stride + 1
    return flat.reshape(len(x), k, rows, -1).swapaxes(2, 3)
