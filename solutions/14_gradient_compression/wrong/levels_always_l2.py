"""Fails quantize-check: takes the length for the largest magnitude."""


def quantize(x, levels, norm, draw):
    wide = np.abs(x.astype(np.float64))
    scale = np.linalg.norm(wide)
    scale = float(np.float32(scale))
    a = levels * wide / (scale or 1)
    q = np.floor(a)
    q += draw.random(len(x)) < a - q
    codes = np.where(x < 0, -q, q) + levels
    head = struct.pack("<IIf", len(x), levels, scale)
    return head + pack(codes, code_bits(levels))
