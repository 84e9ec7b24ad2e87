"""The same collectives written another way: split arrays, a recursion, the other binomial tree, ordered pairs, polyfit."""

import math


def chunk_bounds(n, size):
    stops = [(n // size) * (r + 1) + min(r + 1, n % size) for r in range(size)]
    return [[start, stop] for start, stop in zip([0, *stops], stops)]


def ring_reduce_scatter(comm, x):
    parts = [part.copy() for part in np.array_split(x, comm.size)]
    for chunk in range(comm.rank - 1, comm.rank - comm.size, -1):
        came = comm.exchange(
            parts[chunk],
            (comm.rank + 1) % comm.size,
            (comm.rank - 1) % comm.size,
        )
        parts[chunk - 1] += came
    return parts[comm.rank]


def ring_all_gather(comm, chunk, n):
    parts = {comm.rank: chunk}
    while len(parts) < comm.size:
        source = (comm.rank - len(parts)) % comm.size
        parts[source] = comm.exchange(
            parts[(source + 1) % comm.size],
            (comm.rank + 1) % comm.size,
            (comm.rank - 1) % comm.size,
        )
    return np.concatenate([parts[r] for r in range(comm.size)])


def ring_allreduce(comm, x):
    chunk = ring_reduce_scatter(comm, x)
    return ring_all_gather(comm, chunk, x.size)


def recursive_doubling(comm, x):
    first = 2 ** int(math.log2(comm.size))
    if comm.rank >= first:
        comm.send(x, comm.rank % first)
        return comm.recv(comm.rank % first)
    total = np.array(x)
    partner = comm.rank + first if comm.rank + first < comm.size else None
    if partner is not None:
        total += comm.recv(partner)

    def doubled(value, reach):
        if reach == first:
            return value
        return doubled(
            np.add(
                comm.exchange(value, comm.rank ^ reach, comm.rank ^ reach),
                value,
            ),
            2 * reach,
        )

    total = doubled(total, 1)
    if partner is not None:
        comm.send(total, partner)
    return total


def tree_broadcast(comm, x, root):
    place = (comm.rank - root) % comm.size
    reach = 1
    while reach < comm.size and not place & reach:
        reach *= 2
    if place:
        x = comm.recv((comm.rank - reach) % comm.size)
    while reach > 1:  # the farthest first
        reach //= 2
        if place + reach < comm.size:
            comm.send(x, (comm.rank + reach) % comm.size)
    return x


def parameter_server_exchange(comm, x):
    parts = [part.copy() for part in np.array_split(x, comm.size)]

    def swap(array, other):
        if comm.rank < other:
            comm.send(array, other)
            return comm.recv(other)
        came = comm.recv(other)
        comm.send(array, other)
        return came

    others = [other for other in range(comm.size) if other != comm.rank]
    for other in others:
        parts[comm.rank] += swap(parts[other], other)
    for other in others:
        parts[other] = swap(parts[comm.rank], other)
    return np.concatenate(parts)


class AlphaBeta:
    def fit(self, m, seconds):
        self.beta, self.alpha = np.polyfit(
            m, seconds, 1, w=1 / np.asarray(seconds)
        )

    def predict(self, m):
        return self.beta * m + self.alpha


def allreduce_seconds(scheme, size, m, alpha, beta):
    if scheme not in ("ring", "doubling", "halving", "server", "sharded"):
        raise ValueError(f"{scheme}?")
    if size == 1:
        return 0
    if scheme == "doubling":
        power = math.log2(size)
        rounds = int(power) if power == int(power) else math.floor(power) + 2
        return rounds * (alpha + m * beta)
    bytes_sent = {"server": 2 * size * m, "sharded": 2 * m}.get(
        scheme, 2 * m * (size - 1) / size
    )
    messages = {"ring": 2 * size - 2, "halving": 2 * np.log2(size)}.get(
        scheme, 2
    )
    return messages * alpha + bytes_sent * beta


def best_size(compute_s, communication, sizes):
    def step(size):
        return compute_s / size + communication(size)

    best = min(sorted(sizes), key=step)
    return best, compute_s / step(best)
