"""Fails one-bit-check: returns float64."""


def from_one_bit(data):
    n, above, below = struct.unpack("<Iff", data[:12])
    packed = np.frombuffer(data[12:], np.uint8)
    bits = np.unpackbits(packed, count=n, bitorder="little")
    return np.where(bits, above, below)
