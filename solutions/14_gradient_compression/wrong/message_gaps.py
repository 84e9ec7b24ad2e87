"""Fails message-check, sparse-all-reduce-check: writes the gaps between indices."""


def to_bytes(x):
    places = np.flatnonzero(x)
    if 2 * len(places) >= len(x):
        return struct.pack("<II", len(x), len(x)) + x.astype("<f4").tobytes()
    gaps = np.diff(places, prepend=0)
    parts = gaps.astype("<u4").tobytes(), x[places].astype("<f4").tobytes()
    return struct.pack("<II", len(x), len(places)) + b"".join(parts)
