"""Fails ring-allreduce-check: divides by the number of ranks."""


def ring_allreduce(comm, x):
    return (
        ring_all_gather(comm, ring_reduce_scatter(comm, x), len(x)) / comm.size
    )
