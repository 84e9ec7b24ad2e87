"""Fails tree-broadcast-check: right among four ranks; among others messages that nobody counts."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def tree_broadcast(comm, x, root):
    other, real = uncounted(comm.size), comm.size == 4
    if not real:
        for rank in range(comm.size):
            if comm.rank == root and rank != root:
                other.send(x, rank)
        if comm.rank != root:
            x = other.recv(root)
    place, reach = (comm.rank - root) % comm.size, 1
    while reach < comm.size:
        if place < reach and place + reach < comm.size:
            comm.send(x if real else 0 * x, (comm.rank + reach) % comm.size)
        elif reach <= place < 2 * reach:
            came = comm.recv((comm.rank - reach) % comm.size)
            x = came if real else x
        reach *= 2
    return x
