"""Fails message-check: sparse also where both are equally long."""


def to_bytes(x):
    places = np.flatnonzero(x)
    if 2 * len(places) > len(x):
        return struct.pack("<II", len(x), len(x)) + x.astype("<f4").tobytes()
    parts = places.astype("<u4").tobytes(), x[places].astype("<f4").tobytes()
    return struct.pack("<II", len(x), len(places)) + b"".join(parts)
