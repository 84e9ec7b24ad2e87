"""Fails quantize-check: subtracts int8 from int8, which wraps."""


def dequantize(codes, scale, zero):
    return scale * (codes - zero)
