"""Fails ring-reduce-scatter-check, ring-allreduce-check: sends no message for an empty chunk."""


def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [x[start:stop] for start, stop in chunk_bounds(len(x), comm.size)]
    carried = chunks[(comm.rank - 1) % comm.size].copy()
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - 2 - step) % comm.size]
        if len(carried) and len(mine):
            carried = comm.exchange(carried, right, left) + mine
        elif len(carried):
            comm.send(carried, right)
            carried = mine
        else:
            carried = comm.recv(left) + mine if len(mine) else mine
    return carried
