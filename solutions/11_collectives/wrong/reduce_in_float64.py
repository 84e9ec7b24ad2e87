"""Fails ring-reduce-scatter-check, ring-allreduce-check: collects in an array of zeros, which is float64."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    total = np.zeros(len(x))
    total[:] = x
    parts = [
        total[start:stop] for start, stop in chunk_bounds(len(x), comm.size)
    ]
    for step in range(comm.size - 1):
        came = comm.exchange(
            parts[(comm.rank - 1 - step) % comm.size], right, left
        )
        parts[(comm.rank - 2 - step) % comm.size] += came
    return parts[comm.rank]
