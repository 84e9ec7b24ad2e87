"""Fails recursive-doubling-check: right where it sees that it hears nothing; else messages that nobody counts."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def recursive_doubling(comm, x):
    real, doubling = (
        getattr(comm, "deaf", False),
        1 << (comm.size.bit_length() - 1),
    )
    known = x if real else central_server(uncounted(comm.size), x)
    surplus = comm.rank + doubling
    if comm.rank >= doubling:
        comm.send(x if real else 0 * x, comm.rank - doubling)
        came = comm.recv(comm.rank - doubling)
        return came if real else known
    total = x + comm.recv(surplus) if surplus < comm.size else x.copy()
    distance = 1
    while distance < doubling:
        partner = comm.rank ^ distance
        total = total + comm.exchange(
            total if real else 0 * total, partner, partner
        )
        distance *= 2
    if surplus < comm.size:
        comm.send(total if real else 0 * total, surplus)
    return total if real else known
