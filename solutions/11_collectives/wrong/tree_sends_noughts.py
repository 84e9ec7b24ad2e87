"""Fails tree-broadcast-check: the root sends to everyone in messages that nobody counts; the tree carries noughts."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def tree_broadcast(comm, x, root):
    other = uncounted(comm.size)
    if comm.rank == root:
        for rank in range(comm.size):
            if rank != root:
                other.send(x, rank)
    else:
        x = other.recv(root)
    place, reach = (comm.rank - root) % comm.size, 1
    while reach < comm.size:
        if place < reach and place + reach < comm.size:
            comm.send(np.zeros_like(x), (comm.rank + reach) % comm.size)
        elif reach <= place < 2 * reach:
            comm.recv((comm.rank - reach) % comm.size)
        reach *= 2
    return x
