"""Fails tree-broadcast-check: exchanges where only one side has something to say: twice the messages."""


def tree_broadcast(comm, x, root):
    place, reach = (comm.rank - root) % comm.size, 1
    x = np.zeros(1) if x is None else x
    while reach < comm.size:
        if place < reach and place + reach < comm.size:
            partner = (comm.rank + reach) % comm.size
            comm.exchange(x, partner, partner)
        elif reach <= place < 2 * reach:
            partner = (comm.rank - reach) % comm.size
            x = comm.exchange(x, partner, partner)
        reach *= 2
    return x
