"""Fails round-to-bfloat16-check: returns float32 values, not codes."""


def round_to_bfloat16(x):
    bits = x.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    return np.where(np.isnan(x), np.nan, rounded.view(np.float32))
