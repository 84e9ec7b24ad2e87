"""Fails sparse-all-reduce-check: sends every message twice."""


def sparse_all_reduce(comm, x):
    total, distance = x.copy(), 1
    while distance < comm.size:
        partner = comm.rank ^ distance
        data = np.frombuffer(to_bytes(total), np.uint8)
        came = comm.exchange(data, partner, partner)
        comm.exchange(data, partner, partner)
        total = total + from_bytes(came.tobytes())
        distance *= 2
    return total
