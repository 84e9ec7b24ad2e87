"""Fails recursive-doubling-check: exchanges with each other rank: P - 1 steps."""


def recursive_doubling(comm, x):
    total = x.copy()
    for distance in range(1, comm.size):
        total = total + comm.exchange(
            x,
            (comm.rank + distance) % comm.size,
            (comm.rank - distance) % comm.size,
        )
    return total
