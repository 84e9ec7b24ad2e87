"""Fails ring-reduce-scatter-check, ring-allreduce-check: every rank sends before it receives: a deadlock."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        comm.send(carried, right)
        carried = comm.recv(left) + chunks[(comm.rank - 2 - step) % comm.size]
    return carried
