"""Fails decode-check: builds its table once for each pair of widths, whatever the largest exponent means later."""

TABLES = {}


def decode(codes, exponent, mantissa, specials):
    key = exponent, mantissa
    if key not in TABLES:
        all_codes = np.arange(2 ** (1 + exponent + mantissa))
        m, e = all_codes % 2**mantissa, all_codes // 2**mantissa % 2**exponent
        top = 2**exponent - 1
        value = np.where(e > 0, 2**mantissa + m, m) * 2.0 ** (
            np.maximum(e, 1) - mantissa + 1 - 2 ** (exponent - 1)
        )
        if specials == "ieee":
            value = np.where(e == top, np.where(m == 0, np.inf, np.nan), value)
        if specials == "nan":
            value = np.where((e == top) & (m == 2**mantissa - 1), np.nan, value)
        TABLES[key] = np.where(
            all_codes >> (exponent + mantissa), -value, value
        )
    return TABLES[key][codes]
