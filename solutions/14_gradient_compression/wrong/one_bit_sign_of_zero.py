"""Fails one-bit-check: takes -0.0 for less than 0."""


def one_bit(x: np.ndarray) -> bytes:
    """Return the signs of a vector's entries, and what they stand for."""
    up = ~np.signbit(x)
    above = x[up].mean() if up.any() else 0.0
    below = x[~up].mean() if not up.all() else 0.0
    head = struct.pack("<Iff", len(x), above, below)
    return head + np.packbits(up, bitorder="little").tobytes()
