"""Fails ring-reduce-scatter-check, ring-allreduce-check: sends to the right and waits for the right one: a circle of exchanges."""


def ring_reduce_scatter(comm, x):
    right = (comm.rank + 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        came = comm.exchange(carried, right, right)
        carried = came + chunks[(comm.rank - 2 - step) % comm.size]
    return carried
