"""Fails one-bit-check: writes a byte for each entry."""


def one_bit(x):
    above = x >= 0
    means = [x[part].mean() if part.any() else 0 for part in (above, ~above)]
    bits = above.astype(np.uint8).tobytes()
    return struct.pack("<Iff", len(x), *means) + bits
