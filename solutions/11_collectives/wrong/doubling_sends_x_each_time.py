"""Fails recursive-doubling-check: exchanges x and not what it has collected; right for two ranks."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return comm.recv(comm.rank - doubling)
    surplus = comm.rank + doubling
    start = x + comm.recv(surplus) if surplus < comm.size else x.copy()
    total, distance = start.copy(), 1
    while distance < doubling:
        total = total + comm.exchange(
            start, comm.rank ^ distance, comm.rank ^ distance
        )
        distance *= 2
    if surplus < comm.size:
        comm.send(total, surplus)
    return total
