"""Fails recursive-doubling-check: adds into x itself, but only where a surplus rank folds in."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return comm.recv(comm.rank - doubling)
    surplus = comm.rank + doubling
    total = x
    if surplus < comm.size:
        total += comm.recv(surplus)
    distance = 1
    while distance < doubling:
        total = total + comm.exchange(
            total, comm.rank ^ distance, comm.rank ^ distance
        )
        distance *= 2
    if surplus < comm.size:
        comm.send(total, surplus)
    return total
