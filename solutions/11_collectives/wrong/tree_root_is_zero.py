"""Fails tree-broadcast-check: takes rank 0 for the root."""


def tree_broadcast(comm, x, root):
    reach = 1
    while reach < comm.size:
        if comm.rank < reach and comm.rank + reach < comm.size:
            comm.send(x, comm.rank + reach)
        elif reach <= comm.rank < 2 * reach:
            x = comm.recv(comm.rank - reach)
        reach *= 2
    return x
