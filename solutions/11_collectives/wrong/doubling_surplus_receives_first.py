"""Fails recursive-doubling-check: the surplus ranks wait for the sum before they send: a deadlock."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        total = comm.recv(comm.rank - doubling)
        comm.send(x, comm.rank - doubling)
        return total
    surplus = comm.rank + doubling
    total = x + comm.recv(surplus) if surplus < comm.size else x.copy()
    distance = 1
    while distance < doubling:
        total = total + comm.exchange(
            total, comm.rank ^ distance, comm.rank ^ distance
        )
        distance *= 2
    if surplus < comm.size:
        comm.send(total, surplus)
    return total
