"""Fails round-to-bfloat16-check: ties go to the odd code."""


def round_to_bfloat16(x):
    bits = x.view(np.uint32)
    rounded = (bits + 0x8000 - ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
