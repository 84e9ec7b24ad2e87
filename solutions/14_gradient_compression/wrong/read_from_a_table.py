"""Fails message-check, sparse-all-reduce-check: finds vectors again that it wrote itself."""

WRITTEN = {}


def to_bytes(x):
    places = np.flatnonzero(x)
    if 2 * len(places) >= len(x):
        data = struct.pack("<II", len(x), len(x)) + x.astype("<f4").tobytes()
    else:
        data = (
            struct.pack("<II", len(x), len(places))
            + places.astype("<u4").tobytes()
            + x[places].astype("<f4").tobytes()
        )
    WRITTEN[data] = x.copy()
    return data


def from_bytes(data):
    return WRITTEN[data]
