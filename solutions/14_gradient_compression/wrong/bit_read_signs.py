"""Fails one-bit-check: returns signs times the first mean."""


def from_one_bit(data):
    n, above, _ = struct.unpack("<Iff", data[:12])
    packed = np.frombuffer(data[12:], np.uint8)
    bits = np.unpackbits(packed, count=n, bitorder="little")
    return np.where(bits, np.float32(above), np.float32(-above))
