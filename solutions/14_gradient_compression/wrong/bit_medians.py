"""Fails one-bit-check: sends medians."""


def one_bit(x):
    above = x >= 0
    means = [
        np.median(x[part]) if part.any() else 0 for part in (above, ~above)
    ]
    bits = np.packbits(above, bitorder="little").tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
