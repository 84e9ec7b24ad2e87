"""Fails tree-broadcast-check: the root sends to everyone in turn."""


def tree_broadcast(comm, x, root):
    if comm.rank == root:
        for other in range(comm.size):
            if other != root:
                comm.send(x, other)
        return x
    return comm.recv(root)
