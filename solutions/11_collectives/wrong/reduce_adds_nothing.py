"""Fails ring-reduce-scatter-check, ring-allreduce-check: hands on what came without adding its own part."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for _ in range(comm.size - 1):
        carried = comm.exchange(carried, right, left)
    return carried
