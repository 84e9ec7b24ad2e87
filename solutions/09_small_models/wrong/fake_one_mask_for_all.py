"""Fails fake-quantize-check: all calls write into one mask, and the last one stays."""

INSIDE = {}


class Through(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, zero, bits):
        half = 2 ** (bits - 1)
        q = torch.round(x / scale) + zero
        INSIDE["mask"] = (q >= -half) & (q <= half - 1)
        return ((q.clamp(-half, half - 1) - zero) * scale).to(x.dtype)

    @staticmethod
    def backward(ctx, upstream):
        return upstream * INSIDE["mask"], None, None, None


def fake_quantize(x, scale, zero: int, bits: int):
    return Through.apply(x, scale, zero, bits)
