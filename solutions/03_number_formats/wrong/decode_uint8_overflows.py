"""Fails decode-check: keeps the dtype of codes, so that uint8 wraps below 0."""


def decode(codes, exponent, mantissa, specials):
    m = codes & (2**mantissa - 1)
    e = (codes >> mantissa) & (2**exponent - 1)
    sign = np.where((codes >> (exponent + mantissa)) & 1, -1.0, 1.0)
    bias = 2 ** (exponent - 1) - 1
    top = e == 2**exponent - 1
    normal = (1 + m / 2**mantissa) * 2.0 ** (e - bias)
    value = np.where(e == 0, m / 2**mantissa * 2.0 ** (1 - bias), normal)
    if specials == "ieee":
        value = np.where(top, np.where(m == 0, np.inf, np.nan), value)
    if specials == "nan":
        value = np.where(top & (m == 2**mantissa - 1), np.nan, value)
    return sign * value
