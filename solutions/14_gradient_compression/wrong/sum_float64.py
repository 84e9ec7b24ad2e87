"""Fails sparse-all-reduce-check: adds up in float64."""


def sparse_all_reduce(comm, x):
    total, distance = x.astype(np.float64), 1
    while distance < comm.size:
        partner = comm.rank ^ distance
        data = np.frombuffer(to_bytes(total.astype(np.float32)), np.uint8)
        came = comm.exchange(data, partner, partner)
        total = total + from_bytes(came.tobytes())
        distance *= 2
    return total
