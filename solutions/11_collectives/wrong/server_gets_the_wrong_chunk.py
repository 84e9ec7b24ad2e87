"""Fails parameter-server-check: sends its own chunk instead of the server's."""


def parameter_server_exchange(comm, x):
    rank, size = comm.rank, comm.size
    bounds = chunk_bounds(len(x), size)
    own = x[slice(*bounds[rank])].copy()
    for distance in range(1, size):
        own += comm.exchange(
            x[slice(*bounds[rank])],
            (rank + distance) % size,
            (rank - distance) % size,
        )
    whole = x.copy()
    whole[slice(*bounds[rank])] = own
    for distance in range(1, size):
        server = (rank - distance) % size
        whole[slice(*bounds[server])] = comm.exchange(
            own, (rank + distance) % size, server
        )
    return whole
