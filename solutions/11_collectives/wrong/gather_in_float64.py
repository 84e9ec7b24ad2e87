"""Fails ring-allreduce-check: an array of zeros is float64."""


def ring_all_gather(comm, chunk, n):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    bounds = chunk_bounds(n, comm.size)
    whole = np.zeros(n)
    whole[slice(*bounds[comm.rank])] = chunk
    for step in range(comm.size - 1):
        chunk = comm.exchange(chunk, right, left)
        whole[slice(*bounds[(comm.rank - step - 1) % comm.size])] = chunk
    return whole
