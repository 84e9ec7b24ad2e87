"""Fails im2col-check: exchanges rows and columns of the kernel."""


def im2col(x, size, stride=1, padding=0):
    p = padding
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    seen = np.lib.stride_tricks.sliding_window_view(x, size, axis=(2, 3))
    seen = seen[:, :, ::stride, ::stride]
    n, c, rows, columns, r, s = seen.shape
    seen = seen.transpose(0, 1, 5, 4, 2, 3)
    return seen.reshape(n, c * r * s, rows * columns)
