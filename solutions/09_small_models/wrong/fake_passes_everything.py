"""Fails fake-quantize-check: lets the gradient pass where it was clipped."""


def fake_quantize(x, scale, zero: int, bits: int):
    half = 2 ** (bits - 1)
    q = torch.round(x / scale) + zero
    value = (torch.clamp(q, -half, half - 1) - zero) * scale
    t = x
    return value.detach() + (t - t.detach())
