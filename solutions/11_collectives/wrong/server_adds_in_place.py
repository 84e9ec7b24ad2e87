"""Fails parameter-server-check: adds into a view of x."""


def parameter_server_exchange(comm, x):
    rank, size = comm.rank, comm.size
    bounds = chunk_bounds(len(x), size)
    own = x[slice(*bounds[rank])]
    for distance in range(1, size):
        server = (rank + distance) % size
        own += comm.exchange(
            x[slice(*bounds[server])], server, (rank - distance) % size
        )
    whole = x.copy()
    for distance in range(1, size):
        server = (rank - distance) % size
        whole[slice(*bounds[server])] = comm.exchange(
            own, (rank + distance) % size, server
        )
    return whole
