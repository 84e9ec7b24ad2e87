"""Fails conv-direct-check: adds into zeros of float64."""


def conv_direct(x, weights, stride=1, padding=0):
    p, (r, s) = padding, weights.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    rows = (x.shape[2] - r) // stride + 1
    columns = (x.shape[3] - s) // stride + 1
    y = np.zeros((len(x), len(weights), rows, columns))
    for a in range(r):
        for b in range(s):
            part = x[:, :, a::stride, b::stride][:, :, :rows, :columns]
            y += np.einsum("nchw,kc->nkhw", part, weights[:, :, a, b])
    return y
