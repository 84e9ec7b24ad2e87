"""Fails sparse-all-reduce-check: sends indices and values, however many."""


def sparse_all_reduce(comm, x):
    total, distance = x.copy(), 1
    while distance < comm.size:
        partner = comm.rank ^ distance
        places = np.flatnonzero(total)
        data = (
            struct.pack("<II", len(x), len(places))
            + places.astype("<u4").tobytes()
            + total[places].astype("<f4").tobytes()
        )
        came = comm.exchange(
            np.frombuffer(data, np.uint8), partner, partner
        ).tobytes()
        k = struct.unpack("<II", came[:8])[1]
        added = np.zeros_like(total)
        added[np.frombuffer(came[8 : 8 + 4 * k], "<u4")] = np.frombuffer(
            came[8 + 4 * k :], "<f4"
        )
        total = total + added
        distance *= 2
    return total
