"""Fails one-bit-check: divides both sums by n."""


def one_bit(x):
    above = x >= 0
    means = [x[part].sum() / max(len(x), 1) for part in (above, ~above)]
    bits = np.packbits(above, bitorder="little").tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
