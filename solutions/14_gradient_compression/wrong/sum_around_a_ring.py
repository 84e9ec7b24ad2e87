"""Fails sparse-all-reduce-check: passes all vectors round a ring."""


def sparse_all_reduce(comm, x):
    total, held, distance = x.copy(), x, 1
    while distance < comm.size:
        came = comm.exchange(
            np.frombuffer(to_bytes(held), np.uint8),
            (comm.rank + 1) % comm.size,
            (comm.rank - 1) % comm.size,
        )
        held = from_bytes(came.tobytes())
        total = total + held
        distance += 1
    return total
