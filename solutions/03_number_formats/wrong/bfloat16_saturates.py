"""Fails round-to-bfloat16-check: what is too large becomes the largest number."""


def round_to_bfloat16(x):
    bits = x.view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    big = np.isfinite(x) & (rounded & 0x7FFF == 0x7F80)
    rounded = np.where(big, rounded - 1, rounded)
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
