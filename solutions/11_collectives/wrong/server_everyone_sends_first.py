"""Fails parameter-server-check: sends to all before it receives from any: a deadlock."""


def parameter_server_exchange(comm, x):
    rank, size = comm.rank, comm.size
    bounds = chunk_bounds(len(x), size)
    others = [other for other in range(size) if other != rank]
    for other in others:
        comm.send(x[slice(*bounds[other])], other)
    own = x[slice(*bounds[rank])] + sum(comm.recv(other) for other in others)
    for other in others:
        comm.send(own, other)
    whole = x.copy()
    whole[slice(*bounds[rank])] = own
    for other in others:
        whole[slice(*bounds[other])] = comm.recv(other)
    return whole
