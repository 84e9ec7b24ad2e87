"""Fails message-check, sparse-all-reduce-check: writes each index beside its value."""


def to_bytes(x):
    places = np.flatnonzero(x)
    if 2 * len(places) >= len(x):
        return struct.pack("<II", len(x), len(x)) + x.astype("<f4").tobytes()
    parts = [struct.pack("<If", p, x[p]) for p in places]
    return struct.pack("<II", len(x), len(places)) + b"".join(parts)
