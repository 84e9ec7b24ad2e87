"""Fails ring-reduce-scatter-check, ring-allreduce-check: sends each chunk to its owner; the bytes are right, but no ring."""


def ring_reduce_scatter(comm, x):
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    own = chunks[comm.rank].copy()
    for distance in range(1, comm.size):
        to, source = (
            (comm.rank + distance) % comm.size,
            (comm.rank - distance) % comm.size,
        )
        own = own + comm.exchange(chunks[to], to, source)
    return own
