"""Fails one-bit-check: returns the bits that fill the last byte, too."""


def from_one_bit(data):
    _, above, below = struct.unpack("<Iff", data[:12])
    bits = np.unpackbits(np.frombuffer(data[12:], np.uint8), bitorder="little")
    return np.where(bits, np.float32(above), np.float32(below))
