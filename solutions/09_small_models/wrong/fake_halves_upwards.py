"""Fails fake-quantize-check: rounds halves upwards, not to the even integer."""


def fake_quantize(x, scale, zero: int, bits: int):
    half = 2 ** (bits - 1)
    q = torch.floor(x / scale + 0.5) + zero
    value = ((q.clamp(-half, half - 1) - zero) * scale).to(x.dtype)
    t = x * ((q >= -half) & (q <= half - 1))
    return value.detach() + (t - t.detach())
