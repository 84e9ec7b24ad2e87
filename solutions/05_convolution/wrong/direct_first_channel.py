"""Fails conv-direct-check: looks at the first channel only."""


def conv_direct(x, weights, stride=1, padding=0):
    p, (r, s) = padding, weights.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    rows = (x.shape[2] - r) // stride + 1
    columns = (x.shape[3] - s) // stride + 1
    y = np.zeros((len(x), len(weights), rows, columns), x.dtype)
    for a in range(r):
        for b in range(s):
            part = x[:, :, a::stride, b::stride][:, :, :rows, :columns]
            y += part[:, :1] * weights[:, 0, a, b][:, None, None]
    return y
