"""Other calls of NumPy: tensordot, fancy indices, add.at, one transform an image, a plan built forwards."""


def conv_direct(x, weights, stride=1, padding=0):
    p, (r, s) = padding, weights.shape[2:]
    x = np.pad(x, [(0, 0), (0, 0), (p, p), (p, p)])
    windows = np.lib.stride_tricks.sliding_window_view(x, (r, s), (2, 3))
    windows = windows[:, :, ::stride, ::stride]
    return np.tensordot(windows, weights, ([1, 4, 5], [1, 2, 3])).transpose(
        0, 3, 1, 2
    )


def places(h, w, size, stride):
    r, s = size
    i, j = np.mgrid[0 : h - r + 1 : stride, 0 : w - s + 1 : stride]
    a, b = np.mgrid[:r, :s]
    return a.reshape(-1, 1) + i.ravel(), b.reshape(-1, 1) + j.ravel()


def im2col(x, size, stride=1, padding=0):
    p = padding
    x = np.pad(x, [(0, 0), (0, 0), (p, p), (p, p)])
    rows, columns = places(*x.shape[2:], size, stride)
    seen = x[:, :, rows, columns]
    return seen.reshape(len(x), x.shape[1] * len(rows), rows.shape[1])


def conv_im2col(x, weights, stride=1, padding=0):
    k, _, r, s = weights.shape
    seen = im2col(x, (r, s), stride, padding)
    high = (x.shape[2] + 2 * padding - r) // stride + 1
    y = np.zeros((len(x), k, seen.shape[2]), x.dtype)
    for image, columns in zip(y, seen):
        np.matmul(weights.reshape(k, -1), columns, out=image)
    return y.reshape(len(x), k, high, seen.shape[2] // high)


def col2im(columns, shape, size, stride=1, padding=0):
    n, c, h, w = shape
    big = np.zeros((n, c, h + 2 * padding, w + 2 * padding), columns.dtype)
    at, along = places(*big.shape[2:], size, stride)
    parts = columns.reshape(n, c, *at.shape)
    np.add.at(big, (slice(None), slice(None), at, along), parts)
    return big[:, :, padding : padding + h, padding : padding + w]


def conv_fft(x, weights, forward=np.fft.rfft2, inverse=np.fft.irfft2):
    h, w = x.shape[2:]
    a = np.array([forward(image, (h, w)) for image in x])
    b = np.array([forward(kernel, (h, w)) for kernel in weights])
    # conj(a) * b is the transform of the reflected result
    total = np.conj(np.einsum("ncij,kcij->nkij", np.conj(a), b))
    y = np.array([inverse(one, (h, w)) for one in total], x.dtype)
    return y[
        :, :, : 1 - weights.shape[2] or None, : 1 - weights.shape[3] or None
    ]


def conv_winograd(x, weights, transforms):
    bt, g, at = [np.array(a, dtype=x.dtype) for a in transforms]
    m, t = at.shape
    r = t - m + 1
    rows, columns = x.shape[2] - r + 1, x.shape[3] - r + 1
    down, across = (rows + m - 1) // m, (columns + m - 1) // m
    x = np.pad(x, [(0, 0), (0, 0), (0, m), (0, m)])
    tiles = np.empty((down, across, x.shape[0], x.shape[1], t, t), x.dtype)
    for i in range(down):
        for j in range(across):
            tiles[i, j] = x[:, :, i * m : i * m + t, j * m : j * m + t]
    d = np.einsum("ab,ijncbe,fe->ijncaf", bt, tiles, bt, optimize=True)
    u = np.einsum("ab,kcbe,fe->kcaf", g, weights, g, optimize=True)
    y = np.einsum("ijncaf,kcaf->nkijaf", d, u)
    y = np.einsum("ab,nkijbe,fe->nkiajf", at, y, at, optimize=True)
    y = y.reshape(*y.shape[:2], down * m, across * m)
    return y[:, :, :rows, :columns]


def plan_microbatch(seconds, workspace, limit):
    algorithms, n = seconds.shape
    total, plans = [0.0] + [np.inf] * n, [[] for _ in range(n + 1)]
    for done in range(n):
        for b in range(1, n - done + 1):
            for a in range(algorithms):
                if workspace[a, b - 1] <= limit:
                    reached = total[done] + seconds[a, b - 1]
                    if reached < total[done + b]:
                        total[done + b] = reached
                        plans[done + b] = [*plans[done], [b, a]]
    if np.isinf(total[n]):
        raise ValueError
    return plans[n]
