"""Fails recursive-doubling-check: a send and a recv where an exchange is asked: twice the steps."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return comm.recv(comm.rank - doubling)
    surplus = comm.rank + doubling
    total = x + comm.recv(surplus) if surplus < comm.size else x.copy()
    distance = 1
    while distance < doubling:
        partner = comm.rank ^ distance
        if comm.rank < partner:
            comm.send(total, partner)
            total = total + comm.recv(partner)
        else:
            came = comm.recv(partner)
            comm.send(total, partner)
            total = came + total
        distance *= 2
    if surplus < comm.size:
        comm.send(total, surplus)
    return total
