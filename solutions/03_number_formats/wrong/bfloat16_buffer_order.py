"""Fails round-to-bfloat16-check: reads the memory in its own order, so that a transpose comes out wrong."""


def round_to_bfloat16(x):
    bits = np.frombuffer(x.tobytes("A"), np.uint32).reshape(x.shape)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)
