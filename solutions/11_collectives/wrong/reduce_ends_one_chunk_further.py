"""Fails ring-reduce-scatter-check, ring-allreduce-check: begins with chunk r, and so ends with chunk r + 1."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[comm.rank].copy()
    for step in range(comm.size - 1):
        carried = (
            comm.exchange(carried, right, left)
            + chunks[(comm.rank - 1 - step) % comm.size]
        )
    return carried
