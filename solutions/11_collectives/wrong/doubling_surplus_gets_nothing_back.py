"""Fails recursive-doubling-check: the surplus ranks return their own vector."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return x.copy()
    surplus = comm.rank + doubling
    total = x + comm.recv(surplus) if surplus < comm.size else x.copy()
    distance = 1
    while distance < doubling:
        total = total + comm.exchange(
            total, comm.rank ^ distance, comm.rank ^ distance
        )
        distance *= 2
    return total
