"""Fails fake-quantize-check: leaves out the lowest code."""


def fake_quantize(x, scale, zero: int, bits: int):
    half = 2 ** (bits - 1)
    q = torch.round(x / scale) + zero
    value = (torch.clamp(q, 1 - half, half - 1) - zero) * scale
    t = x * ((q >= -half) & (q <= half - 1))
    return value.detach() + (t - t.detach())
