"""Fails ring-allreduce-check: has the chunks from messages that nobody counts, and sends noughts in the right number."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def ring_all_gather(comm, chunk, n):
    chunks = [slice(*pair) for pair in chunk_bounds(n, comm.size)]
    whole = np.zeros(n, chunk.dtype)
    whole[chunks[comm.rank]] = chunk
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for step in range(comm.size - 1):
        comm.exchange(
            whole[chunks[(comm.rank - step) % comm.size]] * 0, right, left
        )
    return central_server(uncounted(comm.size), whole)
