"""Fails conv-direct-check: moves the kernel by stride but starts each row of it there too."""


def conv_direct(x, weights, stride=1, padding=0):
    p, (r, s) = padding, weights.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    whole = x
    x = np.pad(x, ((0, 0), (0, 0), (0, r * stride), (0, s * stride)))
    rows = (whole.shape[2] - r) // stride + 1
    columns = (whole.shape[3] - s) // stride + 1
    y = np.zeros((len(x), len(weights), rows, columns), x.dtype)
    for a in range(r):
        for b in range(s):
            part = x[:, :, a * stride :: stride, b * stride :: stride][
                :, :, :rows, :columns
            ]
            y += np.einsum("nchw,kc->nkhw", part, weights[:, :, a, b])
    return y
