"""Fails recursive-doubling-check: adds up in float64 what travels as float32: ranks end with different bits."""


def recursive_doubling(comm, x: np.ndarray) -> np.ndarray:
    """Return the sum of all ranks' x, shape (n,), on every rank."""
    q = 1
    while 2 * q <= comm.size:
        q *= 2
    if comm.rank >= q:
        comm.send(x, comm.rank - q)
        return comm.recv(comm.rank - q)
    total = x.astype(np.float64) if x.dtype.kind == "f" else x.copy()
    helped = comm.rank + q < comm.size
    if helped:
        total = total + comm.recv(comm.rank + q)
    k = 1
    while k < q:
        partner = comm.rank ^ k
        total = total + comm.exchange(total.astype(x.dtype), partner, partner)
        k *= 2
    total = total.astype(x.dtype)
    if helped:
        comm.send(total, comm.rank + q)
    return total
