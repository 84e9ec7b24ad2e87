"""Fails ring-reduce-scatter-check, ring-allreduce-check: sends the whole vector round the ring, and cuts at the end."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    total, carried = x.copy(), x
    for _ in range(comm.size - 1):
        carried = comm.exchange(carried, right, left)
        total = total + carried
    start, stop = chunk_bounds(len(x), comm.size)[comm.rank]
    return total[start:stop]
