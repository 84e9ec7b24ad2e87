"""Fails recursive-doubling-check: has no answer to a rank without a partner."""


def recursive_doubling(comm, x):
    total, distance = x.copy(), 1
    while distance < comm.size:
        total = total + comm.exchange(
            total, comm.rank ^ distance, comm.rank ^ distance
        )
        distance *= 2
    return total
