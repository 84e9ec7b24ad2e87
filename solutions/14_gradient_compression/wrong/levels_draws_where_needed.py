"""Fails quantize-check: draws only for entries that are not exact."""


def quantize(x, levels, norm, draw):
    wide = np.abs(x.astype(np.float64))
    scale = wide.max(initial=0) if norm == "max" else np.linalg.norm(wide)
    scale = float(np.float32(scale))
    a = levels * wide / (scale or 1)
    q = np.floor(a)
    q += np.array(
        [fraction > 0 and draw.random() < fraction for fraction in a - q], float
    )
    codes = np.where(x < 0, -q, q) + levels
    head = struct.pack("<IIf", len(x), levels, scale)
    return head + pack(codes, code_bits(levels))
