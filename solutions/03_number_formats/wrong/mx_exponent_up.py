"""Fails mx-quantize-check: rounds the exponent up, so that nothing saturates."""


def mx_quantize(x, grid, block=32):
    blocks = x.astype(np.float64).reshape(-1, block)
    peak = np.abs(blocks).max(axis=1)
    exponents = np.ceil(np.log2(np.maximum(peak, 1e-300) / grid[-1])).astype(
        int
    )
    exponents = np.clip(exponents, -127, 127)
    return exponents, nearest(blocks / 2.0 ** exponents[:, None], grid)
