"""Fails ring-reduce-scatter-check, ring-allreduce-check: sends its own part of each chunk and not what it has collected; right for two ranks."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        came = comm.exchange(
            chunks[(comm.rank - 1 - step) % comm.size], right, left
        )
        carried = came + chunks[(comm.rank - 2 - step) % comm.size]
    return carried
