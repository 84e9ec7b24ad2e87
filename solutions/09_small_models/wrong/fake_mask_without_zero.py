"""Fails fake-quantize-check: asks for the range without the zero point."""


def fake_quantize(x, scale, zero: int, bits: int):
    half = 2 ** (bits - 1)
    q = torch.round(x / scale) + zero
    value = (torch.clamp(q, -half, half - 1) - zero) * scale
    t = x * ((q - zero >= -half) & (q - zero <= half - 1))
    return value.detach() + (t - t.detach())
