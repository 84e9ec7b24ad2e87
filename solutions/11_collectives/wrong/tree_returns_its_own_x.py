"""Fails tree-broadcast-check: hands on what came, and returns its own x."""


def tree_broadcast(comm, x, root):
    place, reach, held = (comm.rank - root) % comm.size, 1, x
    while reach < comm.size:
        if place < reach and place + reach < comm.size:
            comm.send(held, (comm.rank + reach) % comm.size)
        elif reach <= place < 2 * reach:
            held = comm.recv((comm.rank - reach) % comm.size)
        reach *= 2
    return x
