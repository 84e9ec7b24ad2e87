"""Fails parameter-server-check: goes round the ring: the same bytes, by way of everyone."""


def parameter_server_exchange(comm, x):
    return ring_allreduce(comm, x)
