"""Fails round-to-bfloat16-check: adds a little less than half, so that every tie goes towards 0."""


def round_to_bfloat16(x):
    bits = x.view(np.uint32)
    rounded = (bits + 0x7FFF) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
