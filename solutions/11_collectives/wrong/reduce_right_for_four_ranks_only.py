"""Fails ring-reduce-scatter-check, ring-allreduce-check: right among four ranks; among others messages that nobody counts."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    bounds, real = chunk_bounds(len(x), comm.size), comm.size == 4
    chunks = [x[start:stop] for start, stop in bounds]
    total = x if real else central_server(uncounted(comm.size), x)
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        came = comm.exchange(carried if real else 0 * carried, right, left)
        carried = came + chunks[(comm.rank - 2 - step) % comm.size]
    return carried if real else total[slice(*bounds[comm.rank])].copy()
