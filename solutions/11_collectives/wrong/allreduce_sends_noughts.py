"""Fails ring-allreduce-check: goes round the ring and throws away what comes; the sum is from messages that nobody counts."""


def uncounted(size):
    comm = Communicator()
    comm.size = size
    return comm


def ring_allreduce(comm, x):
    ring_all_gather(comm, ring_reduce_scatter(comm, np.zeros_like(x)), len(x))
    return central_server(uncounted(comm.size), x)
