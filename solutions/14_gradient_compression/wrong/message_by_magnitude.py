"""Fails message-check: orders the indices by magnitude."""


def to_bytes(x):
    places = np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]
    if 2 * len(places) >= len(x):
        return struct.pack("<II", len(x), len(x)) + x.astype("<f4").tobytes()
    parts = places.astype("<u4").tobytes(), x[places].astype("<f4").tobytes()
    return struct.pack("<II", len(x), len(places)) + b"".join(parts)
