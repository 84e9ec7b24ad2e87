"""Fails one-bit-check: reads the highest bit first."""


def from_one_bit(data):
    n, above, below = struct.unpack("<Iff", data[:12])
    bits = np.unpackbits(np.frombuffer(data[12:], np.uint8), count=n)
    return np.where(bits, np.float32(above), np.float32(below))
