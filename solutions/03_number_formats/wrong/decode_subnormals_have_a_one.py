"""Fails decode-check: subnormals keep the leading 1 at the exponent of E = 1."""


def decode(codes, exponent, mantissa, specials):
    codes = np.asarray(codes).astype(np.int64)
    m = codes & (2**mantissa - 1)
    e = (codes >> mantissa) & (2**exponent - 1)
    sign = np.where((codes >> (exponent + mantissa)) & 1, -1.0, 1.0)
    bias = 2 ** (exponent - 1) - 1
    top = e == 2**exponent - 1
    normal = (1 + m / 2**mantissa) * 2.0 ** (e - bias)
    value = np.where(e == 0, (1 + m / 2**mantissa) * 2.0 ** (1 - bias), normal)
    if specials == "ieee":
        value = np.where(top, np.where(m == 0, np.inf, np.nan), value)
    if specials == "nan":
        value = np.where(top & (m == 2**mantissa - 1), np.nan, value)
    return sign * value
