"""Plain loops over images, kernels and places; a recursive plan; other types of numbers."""

import itertools
from functools import cache


def predictions():
    return {"microbatch": np.float64(9.5), "fft": 21, "winograd": np.int64(4)}


def conv_direct(x, weights, stride=1, padding=0):
    n, (k, _, r, s) = len(x), weights.shape
    big = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    rows = (big.shape[2] - r) // stride + 1
    columns = (big.shape[3] - s) // stride + 1
    y = np.empty((n, k, rows, columns), x.dtype)
    for f, i, j in itertools.product(range(k), range(rows), range(columns)):
        i0, j0 = i * stride, j * stride
        seen = big[:, :, i0 : i0 + r, j0 : j0 + s]
        y[:, f, i, j] = (seen * weights[f]).sum(axis=(1, 2, 3))
    return y


def im2col(x, size, stride=1, padding=0):
    (n, c, h, w), (r, s) = x.shape, size
    big = np.zeros((n, c, h + 2 * padding, w + 2 * padding), x.dtype)
    big[:, :, padding : padding + h, padding : padding + w] = x
    rows = range(0, h + 2 * padding - r + 1, stride)
    columns = range(0, w + 2 * padding - s + 1, stride)
    out = np.empty((n, c * r * s, len(rows) * len(columns)), x.dtype)
    for place, (i, j) in enumerate(itertools.product(rows, columns)):
        out[:, :, place] = big[:, :, i : i + r, j : j + s].reshape(n, c * r * s)
    return out


def conv_im2col(x, weights, stride=1, padding=0):
    k, _, r, s = weights.shape
    rows = (x.shape[2] + 2 * padding - r) // stride + 1
    columns = (x.shape[3] + 2 * padding - s) // stride + 1
    seen = im2col(x, (r, s), stride, padding)
    y = np.einsum("ke,nep->nkp", weights.reshape(k, -1), seen)
    return y.reshape((len(x), k, rows, columns)).copy()


def col2im(columns, shape, size, stride=1, padding=0):
    (n, c, h, w), (r, s) = shape, size
    big = np.zeros((n, c, h + 2 * padding, w + 2 * padding), columns.dtype)
    rows = range(0, h + 2 * padding - r + 1, stride)
    wide = range(0, w + 2 * padding - s + 1, stride)
    for place, (i, j) in enumerate(itertools.product(rows, wide)):
        big[:, :, i : i + r, j : j + s] += columns[:, :, place].reshape(
            n, c, r, s
        )
    return big[:, :, padding : padding + h, padding : padding + w].copy()


def conv_fft(x, weights, forward=np.fft.rfft2, inverse=np.fft.irfft2):
    (n, c, h, w), (k, _, r, s) = x.shape, weights.shape
    y = np.empty((n, k, h - r + 1, w - s + 1), x.dtype)
    spectra = [[forward(image, (h, w)) for image in images] for images in x]
    for f in range(k):
        kernels = [forward(kernel, (h, w)) for kernel in weights[f]]
        for i in range(n):
            total = sum(
                np.conj(kernels[channel]) * spectra[i][channel]
                for channel in range(c)
            )
            y[i, f] = inverse(total, (h, w))[: h - r + 1, : w - s + 1]
    return y


def conv_winograd(x, weights, transforms):
    bt, g, at = (np.asarray(a, x.dtype) for a in transforms)
    (m, t), r = at.shape, g.shape[1]
    (n, c, h, w), k = x.shape, len(weights)
    rows, columns = h - r + 1, w - r + 1
    big = np.zeros((n, c, h + m + t, w + m + t), x.dtype)
    big[:, :, :h, :w] = x
    y = np.zeros((n, k, rows + m, columns + m), x.dtype)
    kernels = np.matmul(np.matmul(g, weights), g.T)
    for i, j in itertools.product(range(0, rows, m), range(0, columns, m)):
        tile = np.matmul(np.matmul(bt, big[:, :, i : i + t, j : j + t]), bt.T)
        total = (tile[:, None] * kernels).sum(axis=2)
        y[:, :, i : i + m, j : j + m] = np.matmul(np.matmul(at, total), at.T)
    return np.ascontiguousarray(y[:, :, :rows, :columns])


def multiplications_and_workspace(algorithm, shape):
    places = (shape.h + 1 - shape.r) * (shape.w + 1 - shape.s)
    terms = shape.n * shape.c * shape.r * shape.s * places
    if algorithm in ("direct", "im2col"):
        return [
            np.int64(shape.k * terms),
            4.0 * terms * (algorithm == "im2col"),
        ]
    images, h, w = shape.n, shape.h, shape.w
    if algorithm == "FFT tiles":
        down = -(-(h + 1 - shape.r) // (17 - shape.r))
        across = -(-(w + 1 - shape.s) // (17 - shape.s))
        images, h, w = images * down * across, 16, 16
    if algorithm in ("FFT", "FFT tiles"):
        pairs = images * shape.k + images * shape.c + shape.k * shape.c
        spectrum = h * (w // 2 + 1)
        products = spectrum * images * shape.k * shape.c
        return products * 4 + pairs * h * w * np.log2(
            h * w
        ), pairs * spectrum * 8
    m = {"F(2,3)": 2, "F(4,3)": 4}[algorithm]
    t = m + 2
    tiles = images * -(-(h - 2) // m) * -(-(w - 2) // m)
    numbers = tiles * (shape.c + shape.k) + shape.k * shape.c
    return np.array([t * t * tiles * shape.k * shape.c, 4.0 * t * t * numbers])


def plan_microbatch(seconds, workspace, limit):
    @cache
    def best(images):
        if images == 0:
            return 0.0, ()
        found = float("inf"), ()
        for b, (a, row) in itertools.product(
            range(images, 0, -1), enumerate(seconds)
        ):
            if workspace[a][b - 1] <= limit and row[b - 1] < float("inf"):
                before, plan = best(images - b)
                if before + row[b - 1] <= found[0] and before < float("inf"):
                    found = before + row[b - 1], (*plan, (np.int64(b), a))
        return found

    total, plan = best(len(seconds[0]))
    if total == float("inf"):
        raise ValueError("nothing fits")
    return list(plan)
