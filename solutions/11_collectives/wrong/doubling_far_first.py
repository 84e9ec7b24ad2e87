"""Fails recursive-doubling-check: the farthest partner comes first."""


def recursive_doubling(comm, x: np.ndarray) -> np.ndarray:
    """Return the sum of all ranks' x, shape (n,), on every rank."""
    q = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= q:
        comm.send(x, comm.rank - q)
        return comm.recv(comm.rank - q)
    total = x.copy()
    helped = comm.rank + q < comm.size
    if helped:
        total += comm.recv(comm.rank + q)
    distance = q // 2
    while distance:
        partner = comm.rank ^ distance
        total = total + comm.exchange(total, partner, partner)
        distance //= 2
    if helped:
        comm.send(total, comm.rank + q)
    return total
