"""Fails mx-quantize-check: a logarithm, which rounds up just below a power of two."""


def mx_quantize(x, grid, block=32):
    blocks = x.astype(np.float64).reshape(-1, block)
    peak = np.abs(blocks).max(axis=1)
    exponents = (
        np.floor(np.log2(np.maximum(peak, 1e-300))).astype(int)
        + 1
        - np.frexp(grid[-1])[1]
    )
    exponents = np.clip(exponents, -127, 127)
    return exponents, nearest(blocks / 2.0 ** exponents[:, None], grid)
