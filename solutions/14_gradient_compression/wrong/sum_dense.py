"""Fails sparse-all-reduce-check: sends plain float32."""


def sparse_all_reduce(comm, x):
    total, distance = x.copy(), 1
    while distance < comm.size:
        partner = comm.rank ^ distance
        came = comm.exchange(total, partner, partner)
        total = total + came
        distance *= 2
    return total
