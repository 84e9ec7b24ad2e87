"""Fails round-to-bfloat16-check: adds half, so that every tie goes away from 0."""


def round_to_bfloat16(x):
    bits = x.view(np.uint32)
    rounded = (bits + 0x8000) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
