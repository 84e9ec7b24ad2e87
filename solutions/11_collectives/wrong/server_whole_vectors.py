"""Fails parameter-server-check: everyone sends everything to everyone."""


def parameter_server_exchange(comm, x):
    total = x.copy()
    for distance in range(1, comm.size):
        total = total + comm.exchange(
            x,
            (comm.rank + distance) % comm.size,
            (comm.rank - distance) % comm.size,
        )
    return total
