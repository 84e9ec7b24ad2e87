"""Fails tree-broadcast-check: each rank hands on to the next: few messages and steps, but P - 1 rounds."""


def tree_broadcast(comm, x, root):
    place = (comm.rank - root) % comm.size
    if place > 0:
        x = comm.recv((comm.rank - 1) % comm.size)
    if place < comm.size - 1:
        comm.send(x, (comm.rank + 1) % comm.size)
    return x
