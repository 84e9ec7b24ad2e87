"""Fails im2col-check: only if there is padding, the columns come back in float64 whatever x's dtype is."""


def im2col(
    x: np.ndarray, size: tuple[int, int], stride: int = 1, padding: int = 0
) -> np.ndarray:
    n, c, h, w = x.shape
    r, s = size
    if padding > 0:
        big = np.zeros((n, c, h + 2 * padding, w + 2 * padding))
        big[:, :, padding : padding + h, padding : padding + w] = x
        x = big
    view = np.lib.stride_tricks.sliding_window_view(x, (r, s), axis=(2, 3))
    view = view[:, :, ::stride, ::stride]
    rows, columns = view.shape[2:4]
    view = view.transpose(0, 1, 4, 5, 2, 3)
    return view.reshape(n, c * r * s, rows * columns)


def conv_im2col(
    x: np.ndarray, weights: np.ndarray, stride: int = 1, padding: int = 0
) -> np.ndarray:
    n, _, h, w = x.shape
    k, _, r, s = weights.shape
    rows = (h + 2 * padding - r) // stride + 1
    columns = (w + 2 * padding - s) // stride + 1
    seen = im2col(x, (r, s), stride, padding)
    return (weights.reshape(k, -1) @ seen).reshape(n, k, rows, columns)
