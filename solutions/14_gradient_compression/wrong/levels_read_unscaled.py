"""Fails quantize-check: forgets to divide by the levels."""


def from_levels(data):
    n, levels, scale = struct.unpack("<IIf", data[:12])
    codes = unpack(data[12:], code_bits(levels), n)
    return ((codes - levels) * scale).astype(np.float32)
