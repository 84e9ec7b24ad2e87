"""Fails round-to-bfloat16-check: rounds the bits of the argument itself."""


def round_to_bfloat16(x):
    bits = x.view(np.uint32)
    nan = np.isnan(x)
    bits += 0x7FFF + ((bits >> 16) & 1)
    return np.where(nan, 0x7FC0, bits >> 16).astype(np.uint16)
