"""Fails ring-allreduce-check: the ring runs the other way."""


def ring_all_gather(comm, chunk, n):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    bounds = chunk_bounds(n, comm.size)
    whole = np.empty(n, chunk.dtype)
    whole[slice(*bounds[comm.rank])] = chunk
    for step in range(comm.size - 1):
        chunk = comm.exchange(chunk, left, right)
        whole[slice(*bounds[(comm.rank + step + 1) % comm.size])] = chunk
    return whole
