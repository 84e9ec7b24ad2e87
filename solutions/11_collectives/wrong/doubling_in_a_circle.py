"""Fails recursive-doubling-check: partners are rank + distance and rank - distance: the sum is right, its bits differ."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return comm.recv(comm.rank - doubling)
    surplus = comm.rank + doubling
    total = x + comm.recv(surplus) if surplus < comm.size else x.copy()
    distance = 1
    while distance < doubling:
        to, source = (
            (comm.rank + distance) % doubling,
            (comm.rank - distance) % doubling,
        )
        total = total + comm.exchange(total, to, source)
        distance *= 2
    if surplus < comm.size:
        comm.send(total, surplus)
    return total
