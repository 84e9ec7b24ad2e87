"""Fails ring-allreduce-check: takes all chunks to be as long as its own."""


def ring_all_gather(comm, chunk, n):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    length = len(chunk)
    whole = np.empty(length * comm.size, chunk.dtype)
    whole[comm.rank * length : (comm.rank + 1) * length] = chunk
    for step in range(comm.size - 1):
        chunk = comm.exchange(chunk, right, left)
        source = (comm.rank - step - 1) % comm.size
        whole[source * length : (source + 1) * length] = chunk
    return whole
