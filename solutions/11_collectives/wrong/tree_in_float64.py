"""Fails tree-broadcast-check: makes everything float64."""


def tree_broadcast(comm, x, root):
    place, reach = (comm.rank - root) % comm.size, 1
    while reach < comm.size:
        if place < reach and place + reach < comm.size:
            comm.send(
                np.asarray(x, dtype=float), (comm.rank + reach) % comm.size
            )
        elif reach <= place < 2 * reach:
            x = comm.recv((comm.rank - reach) % comm.size)
        reach *= 2
    return x
