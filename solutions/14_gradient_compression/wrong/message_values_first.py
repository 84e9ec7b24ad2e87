"""Fails message-check, sparse-all-reduce-check: writes values before indices."""


def to_bytes(x):
    places = np.flatnonzero(x)
    if 2 * len(places) >= len(x):
        return struct.pack("<II", len(x), len(x)) + x.astype("<f4").tobytes()
    parts = x[places].astype("<f4").tobytes(), places.astype("<u4").tobytes()
    return struct.pack("<II", len(x), len(places)) + b"".join(parts)
