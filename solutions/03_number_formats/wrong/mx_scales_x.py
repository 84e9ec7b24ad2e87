"""Fails mx-quantize-check: divides x itself."""


def mx_quantize(x, grid, block=32):
    blocks = x.reshape(-1, block)
    peak = np.abs(blocks).max(axis=1)
    exponents = np.frexp(peak)[1] - np.frexp(grid[-1])[1]
    exponents = np.clip(exponents, -127, 127)
    return exponents, nearest(
        np.divide(blocks, 2.0 ** exponents[:, None], out=blocks), grid
    )
