"""Loops, prints, helpers and odd but valid types; predictions as NumPy numbers."""

import warnings


def pieces(vector, size):
    return [
        vector[start:stop] for start, stop in chunk_bounds(len(vector), size)
    ]


def chunk_bounds(n, size):
    bounds, start = [], 0
    for number in range(size):
        stop = start + n // size
        if number < n % size:
            stop += 1
        bounds.append((np.int64(start), np.int64(stop)))
        start = stop
    return tuple(bounds)


def ring_reduce_scatter(comm, x):
    print("rank", comm.rank, "of", comm.size)
    work = np.copy(x)
    step = 0
    while step < comm.size - 1:
        out, into = comm.rank - 1 - step, comm.rank - 2 - step
        came = (
            comm.exchange(
                pieces(work, comm.size)[out % comm.size],
                (comm.rank + 1) % comm.size,
                comm.rank - 1,
            )
            if comm.rank
            else comm.exchange(
                pieces(work, comm.size)[out % comm.size], 1, comm.size - 1
            )
        )
        pieces(work, comm.size)[into % comm.size][:] += came
        step += 1
    return pieces(work, comm.size)[comm.rank]


def parameter_server_exchange(comm, x):
    size, rank = comm.size, comm.rank
    mine = [pieces(x, size)[rank]]
    for d in range(size - 1, 0, -1):
        to, source = (rank + d) % size, (rank - d) % size
        mine.append(comm.exchange(pieces(x, size)[to], to, source))
    result = x.copy()
    pieces(result, size)[rank][:] = np.sum(mine, axis=0, dtype=x.dtype)
    own = pieces(result, size)[rank].copy()
    for d in range(1, size):
        to, source = (rank + d) % size, (rank - d) % size
        pieces(result, size)[source][:] = comm.exchange(own, to, source)
    return result


def predictions():
    warnings.warn("guessing", stacklevel=2)
    return {"server": np.int64(2), "ring": 70, "loopback": np.float32(3.5)}


def best_size(compute_s, communication, sizes):
    best, least = None, float("inf")
    for size in sorted(sizes):
        seconds = compute_s / size + communication(size)
        if seconds < least:
            best, least = np.int64(size), seconds
    return [best, np.float64(compute_s / least)]
