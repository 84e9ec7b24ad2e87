"""Fails one-bit-check: puts entry 0 into the highest bit."""


def one_bit(x):
    above = x >= 0
    means = [x[part].mean() if part.any() else 0 for part in (above, ~above)]
    bits = np.packbits(above, bitorder="big").tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
