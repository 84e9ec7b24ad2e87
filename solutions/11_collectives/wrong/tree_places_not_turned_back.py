"""Fails tree-broadcast-check: counts from the root, but sends to the place and not to the rank."""


def tree_broadcast(comm, x, root):
    place, reach = (comm.rank - root) % comm.size, 1
    while reach < comm.size:
        if place < reach and place + reach < comm.size:
            comm.send(x, place + reach)
        elif reach <= place < 2 * reach:
            x = comm.recv(place - reach)
        reach *= 2
    return x
