"""Fails fake-quantize-check: divides the gradient by the scale."""


def fake_quantize(x, scale, zero: int, bits: int):
    half = 2 ** (bits - 1)
    q = torch.round(x / scale) + zero
    value = (torch.clamp(q, -half, half - 1) - zero) * scale
    t = x / scale * ((q >= -half) & (q <= half - 1))
    return value.detach() + (t - t.detach())
