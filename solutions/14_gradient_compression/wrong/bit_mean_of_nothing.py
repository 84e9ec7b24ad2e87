"""Fails one-bit-check: takes the mean of no entries."""


def one_bit(x):
    above = x >= 0
    means = [x[part].mean() for part in (above, ~above)]
    bits = np.packbits(above, bitorder="little").tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
