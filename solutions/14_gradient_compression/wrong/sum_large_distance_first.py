"""Fails sparse-all-reduce-check: begins with the farthest partner."""


def sparse_all_reduce(comm, x):
    total, distance = x.copy(), comm.size // 2
    while distance:
        partner = comm.rank ^ distance
        data = np.frombuffer(to_bytes(total), np.uint8)
        came = comm.exchange(data, partner, partner)
        total = total + from_bytes(came.tobytes())
        distance //= 2
    return total
