"""Fails sparse-all-reduce-check: keeps the first sum for later."""


def sparse_all_reduce(comm, x):
    if hasattr(sparse_all_reduce, "total"):
        return sparse_all_reduce.total
    total, distance = x, 1
    while distance < comm.size:
        partner = comm.rank ^ distance
        data = np.frombuffer(to_bytes(total), np.uint8)
        came = comm.exchange(data, partner, partner)
        total = total + from_bytes(came.tobytes())
        distance *= 2
    sparse_all_reduce.total = total
    return total
