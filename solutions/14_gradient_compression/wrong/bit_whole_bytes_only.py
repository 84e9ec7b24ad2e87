"""Fails one-bit-check: leaves out entries that do not fill a byte."""


def one_bit(x):
    above = x >= 0
    means = [x[part].mean() if part.any() else 0 for part in (above, ~above)]
    bits = np.packbits(above[: len(x) // 8 * 8], bitorder="little").tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
