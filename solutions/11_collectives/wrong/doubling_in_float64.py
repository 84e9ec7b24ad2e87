"""Fails recursive-doubling-check: starts from zeros, which are float64."""


def recursive_doubling(comm, x):
    doubling = 1 << (comm.size.bit_length() - 1)
    if comm.rank >= doubling:
        comm.send(x, comm.rank - doubling)
        return comm.recv(comm.rank - doubling)
    surplus = comm.rank + doubling
    total = np.zeros(len(x)) + x
    if surplus < comm.size:
        total = total + comm.recv(surplus)
    distance = 1
    while distance < doubling:
        total = total + comm.exchange(
            total, comm.rank ^ distance, comm.rank ^ distance
        )
        distance *= 2
    if surplus < comm.size:
        comm.send(total, surplus)
    return total
