"""Fails im2col-check: hands over no padding."""


def conv_im2col(x, weights, stride=1, padding=0):
    k, c, r, s = weights.shape
    flat = weights.reshape(k, c * r * s) @ im2col(x, (r, s), stride)
    rows = (x.shape[2] - r) // stride + 1
    columns = (x.shape[3] - s) // stride + 1
    return flat.reshape(len(x), k, rows, columns)
