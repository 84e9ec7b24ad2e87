"""The same written another way: loops, struct throughout, other orders of sums, results in other containers of numbers."""


def predictions():
    return {"fill": 1, "bits": np.float32(20_000), "top": 3 / 7}


def to_bytes(x):
    places = [i for i, v in enumerate(x.tolist()) if v != 0]
    n, k = len(x), len(places)
    if 8 * k < 4 * n:
        values = [float(x[i]) for i in places]
        return struct.pack(f"<{2 + k}I{k}f", n, k, *places, *values)
    return struct.pack(f"<II{n}f", n, n, *x.tolist())


def from_bytes(data):
    n, k = np.frombuffer(data, "<u4", 2).tolist()
    if n == k:
        return np.array(struct.unpack(f"<{n}f", data[8:]), np.float32)
    numbers = struct.unpack(f"<{k}I{k}f", data[8:])
    x = [0.0] * n
    for i, v in zip(numbers[:k], numbers[k:], strict=True):
        x[i] = v
    return np.array(x, np.float32)


def top_k(x, k):
    if k >= len(x):
        return x.copy()
    order = np.lexsort((np.arange(len(x)), -np.abs(x)))
    mask = np.zeros(len(x), bool)
    mask[order[:k]] = True
    return np.where(mask, x, np.float32(0))


class ErrorFeedback:
    def __init__(self, compress, decompress):
        self.pair = compress, decompress
        self.memory = None

    def send(self, gradient):
        compress, decompress = self.pair
        if self.memory is None:
            self.memory = np.zeros_like(gradient)
        self.memory = self.memory + gradient
        message = compress(self.memory.copy())
        self.memory -= decompress(message)
        return message


def one_bit(x):
    wide, sums, bits = x.astype(np.float64), [0.0, 0.0], 0
    numbers = [0, 0]
    for i, v in enumerate(wide.tolist()):
        sums[v < 0] += v
        numbers[v < 0] += 1
        bits |= (v >= 0) << i
    means = [s / max(c, 1) for s, c in zip(sums, numbers, strict=True)]
    packed = bits.to_bytes((len(x) + 7) // 8, "little")
    return struct.pack("<Iff", len(x), *means) + packed


def from_one_bit(data):
    n, *means = struct.unpack("<Iff", data[:12])
    found = [means[1 - (data[12 + i // 8] >> i % 8 & 1)] for i in range(n)]
    return np.array(found, np.float32)


def quantize(x, levels, norm, draw):
    u = draw.random(len(x))
    if norm == "l2":
        scale = np.float32(math.sqrt(np.sum(np.square(x, dtype=np.float64))))
    else:
        scale = np.float32(max(np.abs(x).tolist(), default=0))
    q = []
    for v, chance in zip(x.tolist(), u.tolist(), strict=True):
        a = levels * abs(v) / float(scale) if scale else 0
        level = math.floor(a)
        level += chance < a - level
        q.append(levels + int(math.copysign(level, v)))
    head = np.array([len(x), levels], "<u4").tobytes()
    return head + scale.astype("<f4").tobytes() + pack(q, code_bits(levels))


def from_levels(data):
    n, levels = np.frombuffer(data, "<u4", 2).tolist()
    scale = np.frombuffer(data, "<f4", 1, 8)[0].astype(float)
    whole = int.from_bytes(data[12:], "little")
    bits = code_bits(levels)
    codes = [whole >> i * bits & (1 << bits) - 1 for i in range(n)]
    return np.array([scale * (c - levels) / levels for c in codes], np.float32)


def sparse_all_reduce(comm, x):
    if comm.size == 1:
        return np.array(x)
    sums = [x]
    for j in range(comm.size.bit_length() - 1):
        other = comm.rank ^ (1 << j)
        data = np.array(list(to_bytes(sums[-1])), np.uint8)
        came = bytes(comm.exchange(data, other, other))
        sums.append(from_bytes(came) + sums[-1])
    return sums[-1]


def factors(x, dy):
    batch, n, k = len(x), x.shape[1], dy.shape[1]
    if batch * n + batch * k >= n * k:
        numbers = np.einsum("bi,bj->ij", x, dy).ravel()
    else:
        numbers = np.concatenate([x.ravel(), dy.ravel()])
    return struct.pack(f"<III{len(numbers)}f", batch, n, k, *numbers.tolist())


def from_factors(data):
    batch, n, k = np.frombuffer(data, "<u4", 3).tolist()
    numbers = np.array(np.frombuffer(data, "<f4", offset=12))
    if len(numbers) == n * k and batch * (n + k) >= n * k:
        return numbers.reshape(n, k)
    x, dy = np.split(numbers, [batch * n])
    return np.einsum("bi,bj->ij", x.reshape(batch, n), dy.reshape(batch, k))


def power_step(m, q, mean):
    p = orthonormal(mean(np.dot(m, q)))
    new = mean(np.dot(p.T, m).T)
    return [np.dot(new, p.T).T, new]
