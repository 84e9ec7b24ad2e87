"""Fails parameter-server-check: sends no message for an empty chunk."""


def parameter_server_exchange(comm, x):
    rank, size = comm.rank, comm.size
    bounds = chunk_bounds(len(x), size)
    lengths = [stop - start for start, stop in bounds]
    own = x[slice(*bounds[rank])].copy()
    whole = x.copy()
    for distance in range(1, size):
        to, source = (rank + distance) % size, (rank - distance) % size
        if lengths[to] and lengths[rank]:
            own += comm.exchange(x[slice(*bounds[to])], to, source)
        elif lengths[to]:
            comm.send(x[slice(*bounds[to])], to)
        elif lengths[rank]:
            own += comm.recv(source)
    whole[slice(*bounds[rank])] = own
    for distance in range(1, size):
        to, source = (rank + distance) % size, (rank - distance) % size
        if lengths[rank] and lengths[source]:
            whole[slice(*bounds[source])] = comm.exchange(own, to, source)
        elif lengths[rank]:
            comm.send(own, to)
        elif lengths[source]:
            whole[slice(*bounds[source])] = comm.recv(source)
    return whole
