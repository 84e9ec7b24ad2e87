"""Fails quantize-check: divides in whole numbers."""


def from_levels(data):
    n, levels, scale = struct.unpack("<IIf", data[:12])
    codes = unpack(data[12:], code_bits(levels), n)
    return ((codes - levels) // levels * scale).astype(np.float32)
