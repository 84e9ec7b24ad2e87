"""Fails one-bit-check: counts a zero among the negative entries."""


def one_bit(x):
    above = x > 0
    means = [x[part].mean() if part.any() else 0 for part in (above, ~above)]
    bits = np.packbits(above, bitorder="little").tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
