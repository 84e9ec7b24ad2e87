"""Fails ring-allreduce-check: puts what came where the sender's neighbour belongs."""


def ring_all_gather(comm, chunk, n):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    bounds = chunk_bounds(n, comm.size)
    whole = np.zeros(max(n, comm.size * len(chunk)), chunk.dtype)[:n]
    whole[slice(*bounds[comm.rank])] = chunk
    for step in range(comm.size - 1):
        chunk = comm.exchange(chunk, right, left)
        start = bounds[(comm.rank + step + 1) % comm.size][0]
        whole[start : start + len(chunk)] = chunk[: max(0, n - start)]
    return whole
