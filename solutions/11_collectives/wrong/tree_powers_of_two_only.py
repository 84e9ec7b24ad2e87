"""Fails tree-broadcast-check: sends to ranks that do not exist, or that have the vector."""


def tree_broadcast(comm, x, root):
    place, reach = (comm.rank - root) % comm.size, 1
    while reach < comm.size:
        if place < reach:
            comm.send(x, (comm.rank + reach) % comm.size)
        elif place < 2 * reach:
            x = comm.recv((comm.rank - reach) % comm.size)
        reach *= 2
    return x
