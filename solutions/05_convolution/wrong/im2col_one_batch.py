"""Fails im2col-check: puts the places of all images side by side."""


def im2col(x, size, stride=1, padding=0):
    p = padding
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    seen = np.lib.stride_tricks.sliding_window_view(x, size, axis=(2, 3))
    seen = seen[:, :, ::stride, ::stride]
    n, c, rows, columns, r, s = seen.shape
    seen = seen.transpose(1, 4, 5, 0, 2, 3)
    return seen.reshape(c * r * s, n * rows * columns)
