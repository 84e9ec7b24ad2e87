"""Fails quantize-check: returns float64."""


def from_levels(data):
    n, levels, scale = struct.unpack("<IIf", data[:12])
    return (unpack(data[12:], code_bits(levels), n) - levels) * (scale / levels)
