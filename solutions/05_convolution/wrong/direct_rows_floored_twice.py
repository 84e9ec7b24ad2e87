"""Fails conv-direct-check: the number of rows and columns is floored in two parts, so a stride of 3 with padding 1 may lose the last place."""


def conv_direct(
    x: np.ndarray, weights: np.ndarray, stride: int = 1, padding: int = 0
) -> np.ndarray:
    n, _, h, w = x.shape
    k, _, r, s = weights.shape
    rows = (h - r) // stride + 1 + 2 * padding // stride
    columns = (w - s) // stride + 1 + 2 * padding // stride
    edge = (padding, padding)
    x = np.pad(x, ((0, 0), (0, 0), edge, edge))
    y = np.zeros((n, k, rows, columns), x.dtype)
    for a in range(r):
        for b in range(s):
            seen = x[:, :, a::stride, b::stride][:, :, :rows, :columns]
            y += np.einsum("kc,ncij->nkij", weights[:, :, a, b], seen)
    return y
