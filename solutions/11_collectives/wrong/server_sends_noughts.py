"""Fails parameter-server-check: has the sum from messages that nobody counts, and sends noughts in the right number."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def parameter_server_exchange(comm, x):
    total = central_server(uncounted(comm.size), x)
    nothing = [
        np.zeros_like(x[start:stop])
        for start, stop in chunk_bounds(len(x), comm.size)
    ]
    for distance in range(1, comm.size):
        to, source = (
            (comm.rank + distance) % comm.size,
            (comm.rank - distance) % comm.size,
        )
        comm.exchange(nothing[to], to, source)
        comm.exchange(nothing[comm.rank], to, source)
    return total
