"""Fails round-to-bfloat16-check: loses the shape."""


def round_to_bfloat16(x):
    bits = np.ascontiguousarray(x).view(np.uint32).ravel()
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x.ravel()), 0x7FC0, rounded).astype(np.uint16)
