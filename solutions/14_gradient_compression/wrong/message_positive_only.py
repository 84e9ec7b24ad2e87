"""Fails message-check, sparse-all-reduce-check: takes entries above zero for those that are not zero."""


def to_bytes(x):
    places = np.flatnonzero(x > 0)
    if 2 * len(places) >= len(x):
        return struct.pack("<II", len(x), len(x)) + x.astype("<f4").tobytes()
    parts = places.astype("<u4").tobytes(), x[places].astype("<f4").tobytes()
    return struct.pack("<II", len(x), len(places)) + b"".join(parts)
