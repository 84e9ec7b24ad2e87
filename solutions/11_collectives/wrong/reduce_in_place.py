"""Fails ring-reduce-scatter-check, ring-allreduce-check: adds into views of x."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    for step in range(comm.size - 1):
        came = comm.exchange(
            chunks[(comm.rank - 1 - step) % comm.size], right, left
        )
        chunks[(comm.rank - 2 - step) % comm.size] += came
    return chunks[comm.rank].copy()
