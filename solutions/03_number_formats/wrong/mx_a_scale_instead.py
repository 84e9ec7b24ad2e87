"""Fails mx-quantize-check: returns powers of two instead of exponents."""


def mx_quantize(x, grid, block=32):
    blocks = x.astype(np.float64).reshape(-1, block)
    peak = np.abs(blocks).max(axis=1)
    exponents = np.frexp(peak)[1] - np.frexp(grid[-1])[1]
    exponents = np.clip(exponents, -127, 127)
    return 2.0**exponents, nearest(blocks / 2.0 ** exponents[:, None], grid)
