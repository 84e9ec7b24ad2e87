"""Fails ring-reduce-scatter-check, ring-allreduce-check: even ranks send first and odd ones receive: no deadlock, but twice the steps."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        if comm.rank % 2 == 0:
            comm.send(carried, right)
            came = comm.recv(left)
        else:
            came = comm.recv(left)
            comm.send(carried, right)
        carried = came + chunks[(comm.rank - 2 - step) % comm.size]
    return carried
