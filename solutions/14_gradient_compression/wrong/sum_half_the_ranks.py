"""Fails sparse-all-reduce-check: takes half as many rounds as there are ranks."""


def sparse_all_reduce(comm, x):
    total = x
    for j in range(comm.size // 2):
        distance = 2**j
        partner = comm.rank ^ distance
        data = np.frombuffer(to_bytes(total), np.uint8)
        came = comm.exchange(data, partner, partner)
        total = total + from_bytes(came.tobytes())
    return total
