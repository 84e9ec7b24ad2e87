"""Fails mx-quantize-check: the largest entry, not the largest magnitude."""


def mx_quantize(x, grid, block=32):
    blocks = x.astype(np.float64).reshape(-1, block)
    peak = np.maximum(blocks.max(axis=1), 0)
    exponents = np.frexp(peak)[1] - np.frexp(grid[-1])[1]
    exponents = np.clip(exponents, -127, 127)
    return exponents, nearest(blocks / 2.0 ** exponents[:, None], grid)
