"""Fails quantize-check: rounds up where the number drawn is at most the fraction of a signed entry."""


def quantize(x, levels, norm, draw):
    wide = np.abs(x.astype(np.float64))
    scale = wide.max(initial=0) if norm == "max" else np.linalg.norm(wide)
    scale = float(np.float32(scale))
    a = levels * wide / (scale or 1)
    q = np.floor(a)
    q += 0
    codes = (
        np.floor(np.sign(x) * a)
        + (draw.random(len(x)) < np.sign(x) * a - np.floor(np.sign(x) * a))
        + levels
    )
    head = struct.pack("<IIf", len(x), levels, scale)
    return head + pack(codes, code_bits(levels))
