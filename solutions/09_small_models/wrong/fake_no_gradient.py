"""Fails fake-quantize-check: stops all gradients."""


def fake_quantize(x, scale, zero: int, bits: int):
    half = 2 ** (bits - 1)
    q = torch.round(x / scale) + zero
    value = (torch.clamp(q, -half, half - 1) - zero) * scale
    return value
