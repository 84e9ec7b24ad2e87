"""Fails ring-reduce-scatter-check, ring-allreduce-check: has the sum from messages that nobody counts, and sends noughts in the right number."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def ring_reduce_scatter(comm, x):
    total = central_server(uncounted(comm.size), x)
    chunks = [slice(*pair) for pair in chunk_bounds(len(x), comm.size)]
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for step in range(comm.size - 1):
        comm.exchange(
            np.zeros_like(x[chunks[(comm.rank - 1 - step) % comm.size]]),
            right,
            left,
        )
    return total[chunks[comm.rank]]
