"""Fails recursive-doubling-check: has the sum from messages that nobody counts, and sends noughts in the right number."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def recursive_doubling(comm, x):
    total, nothing = central_server(uncounted(comm.size), x), np.zeros_like(x)
    doubling = 1 << (comm.size.bit_length() - 1)
    surplus = comm.rank + doubling
    if comm.rank >= doubling:
        comm.send(nothing, comm.rank - doubling)
        comm.recv(comm.rank - doubling)
        return total
    if surplus < comm.size:
        comm.recv(surplus)
    distance = 1
    while distance < doubling:
        comm.exchange(nothing, comm.rank ^ distance, comm.rank ^ distance)
        distance *= 2
    if surplus < comm.size:
        comm.send(nothing, surplus)
    return total
