"""Fails ring-allreduce-check: gathers all vectors and adds them up, each rank from its own place: too many bytes, and other bits."""


def ring_allreduce(comm, x):
    total, carried = x.copy(), x
    for _ in range(comm.size - 1):
        carried = comm.exchange(
            carried, (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        )
        total = total + carried
    return total
