"""Fails ring-reduce-scatter-check: sends float64, whatever x is."""


def ring_reduce_scatter(comm, x: np.ndarray) -> np.ndarray:
    """Return chunk comm.rank of the sum of all ranks' x, shape (n,)."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    parts = [
        x[a:b].astype(np.float64) for a, b in chunk_bounds(len(x), comm.size)
    ]
    for s in range(comm.size - 1):
        out, into = (
            (comm.rank - 1 - s) % comm.size,
            (comm.rank - 2 - s) % comm.size,
        )
        parts[into] += comm.exchange(parts[out], right, left)
    return parts[comm.rank].astype(x.dtype)
