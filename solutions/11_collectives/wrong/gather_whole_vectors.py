"""Fails ring-allreduce-check: sends the half-filled vector in each step."""


def ring_all_gather(comm, chunk, n):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    bounds = chunk_bounds(n, comm.size)
    whole = np.zeros(n, chunk.dtype)
    whole[slice(*bounds[comm.rank])] = chunk
    for step in range(comm.size - 1):
        came = comm.exchange(whole, right, left)
        place = slice(*bounds[(comm.rank - step - 1) % comm.size])
        whole[place] = came[place]
    return whole
