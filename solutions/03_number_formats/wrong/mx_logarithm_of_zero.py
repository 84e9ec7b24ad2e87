"""Fails mx-quantize-check: the logarithm of 0, and 0 divided by 0."""


def mx_quantize(x, grid, block=32):
    blocks = x.astype(np.float64).reshape(-1, block)
    peak = np.abs(blocks).max(axis=1)
    exponents = np.floor(np.log2(peak)) - np.floor(np.log2(grid[-1]))
    exponents = np.where(
        np.isfinite(exponents), np.clip(exponents, -127, 127), -2000
    ).astype(int)
    return exponents, nearest(blocks / 2.0 ** exponents[:, None], grid)
