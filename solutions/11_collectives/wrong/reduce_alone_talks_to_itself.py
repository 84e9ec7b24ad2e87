"""Fails ring-reduce-scatter-check, ring-allreduce-check: one rank is not thought of: its neighbour would be itself."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = comm.exchange(chunks[(comm.rank - 1) % comm.size], right, left)
    for step in range(comm.size - 2):
        carried = carried + chunks[(comm.rank - 2 - step) % comm.size]
        carried = comm.exchange(carried, right, left)
    return carried + chunks[comm.rank]
