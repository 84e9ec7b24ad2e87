"""Fails message-check: takes what is nearly 0 for 0."""


def to_bytes(x: np.ndarray) -> bytes:
    """Return a vector's message: sparse where that is shorter."""
    n = len(x)
    places = np.flatnonzero(~np.isclose(x, 0))
    k = len(places)
    if 2 * k < n:
        head = struct.pack("<II", n, k)
        return (
            head
            + places.astype("<u4").tobytes()
            + x[places].astype("<f4").tobytes()
        )
    return struct.pack("<II", n, n) + x.astype("<f4").tobytes()
