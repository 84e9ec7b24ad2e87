"""Fails quantize-check: tosses a coin for each entry that is not exact."""


def quantize(x, levels, norm, draw):
    wide = np.abs(x.astype(np.float64))
    scale = wide.max(initial=0) if norm == "max" else np.linalg.norm(wide)
    scale = float(np.float32(scale))
    a = levels * wide / (scale or 1)
    q = np.floor(a)
    q += (draw.random(len(x)) < 0.5) & (a > q)
    codes = np.where(x < 0, -q, q) + levels
    head = struct.pack("<IIf", len(x), levels, scale)
    return head + pack(codes, code_bits(levels))
