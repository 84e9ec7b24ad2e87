"""Fails ring-allreduce-check: sends its own chunk in each step and not what came; right for two ranks."""


def ring_all_gather(comm, chunk, n):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    parts = [chunk] * comm.size
    for step in range(comm.size - 1):
        parts[(comm.rank - step - 1) % comm.size] = comm.exchange(
            chunk, right, left
        )
    return np.concatenate(parts)
