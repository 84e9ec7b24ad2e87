"""Fails conv-direct-check: exchanges kernels and channels."""


def conv_direct(x, weights, stride=1, padding=0):
    p, (r, s) = padding, weights.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    rows = (x.shape[2] - r) // stride + 1
    columns = (x.shape[3] - s) // stride + 1
    y = np.zeros((len(x), weights.shape[1], rows, columns), x.dtype)
    for a in range(r):
        for b in range(s):
            part = x[:, :, a::stride, b::stride][:, :, :rows, :columns]
            y += np.einsum(
                "nchw,ck->nkhw", part, weights.swapaxes(0, 1)[:, :, a, b]
            )
    return y
