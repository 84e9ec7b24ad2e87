"""Fails conv-direct-check: counts the padding of one side."""


def conv_direct(x, weights, stride=1, padding=0):
    p, (r, s) = padding, weights.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (p, 0), (p, 0)))
    rows = (x.shape[2] - r) // stride + 1
    columns = (x.shape[3] - s) // stride + 1
    y = np.zeros((len(x), len(weights), rows, columns), x.dtype)
    for a in range(r):
        for b in range(s):
            part = x[:, :, a::stride, b::stride][:, :, :rows, :columns]
            y += np.einsum("nchw,kc->nkhw", part, weights[:, :, a, b])
    return y
