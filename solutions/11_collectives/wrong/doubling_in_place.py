"""Fails recursive-doubling-check: adds into x itself."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return comm.recv(comm.rank - doubling)
    surplus = comm.rank + doubling
    if surplus < comm.size:
        x += comm.recv(surplus)
    distance = 1
    while distance < doubling:
        x += comm.exchange(x, comm.rank ^ distance, comm.rank ^ distance)
        distance *= 2
    if surplus < comm.size:
        comm.send(x, surplus)
    return x
