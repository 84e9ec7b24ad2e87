"""Fails mx-quantize-check: one exponent for all blocks."""


def mx_quantize(x, grid, block=32):
    blocks = x.astype(np.float64).reshape(-1, block)
    peak = np.full(len(blocks), np.abs(blocks).max())
    exponents = np.frexp(peak)[1] - np.frexp(grid[-1])[1]
    exponents = np.clip(exponents, -127, 127)
    return exponents, nearest(blocks / 2.0 ** exponents[:, None], grid)
