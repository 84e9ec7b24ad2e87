"""Fails one-bit-check: sends the mean magnitude, with both signs."""


def one_bit(x):
    above = x >= 0
    means = [
        np.abs(x).mean() if len(x) else 0,
        -np.abs(x).mean() if len(x) else 0,
    ]
    bits = np.packbits(above, bitorder="little").tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
