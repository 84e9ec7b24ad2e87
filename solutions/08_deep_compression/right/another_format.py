"""Another format: the best length of gaps is chosen for each layer, tables are trimmed, numbers come first."""


def layer_parts(codes, codebook, bias, gap_bits=6):
    best = None
    for bits in range(1, gap_bits + 1):
        gaps, symbols = to_gaps(codes.ravel(), bits)
        coded = {}
        for name, stream in (("gap", gaps), ("symbol", symbols)):
            code = huffman_code(Counter(stream))
            code = canonical(
                {symbol: len(word) for symbol, word in code.items()}
            )
            table = bytes(
                len(code.get(s, "")) for s in range(max(code, default=-1) + 1)
            )
            coded[f"{name} table"] = struct.pack("<H", len(table)) + table
            coded[name] = encode(stream, code)
        if best is None or sum(map(len, coded.values())) < sum(
            map(len, best[1].values())
        ):
            best = len(gaps), coded
    sides = (
        struct.pack("<B", codes.ndim) + np.array(codes.shape, "<u2").tobytes()
    )
    numbers = (
        bias.tobytes() + struct.pack("<H", len(codebook)) + codebook.tobytes()
    )
    return {
        "sides": sides,
        "numbers": numbers,
        "entries": struct.pack("<I", best[0]),
        **best[1],
    }


class Reader:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def take(self, kind, count=1):
        found = np.frombuffer(self.data, np.dtype(kind), count, self.at)
        self.at += found.nbytes
        return found

    def stream(self, count):
        table = self.take("u1", int(self.take("<u2")[0]))
        code = canonical({s: int(n) for s, n in enumerate(table) if n})
        found = decode(self.data[self.at :], code, count)
        self.at += -(-sum(len(code[s]) for s in found) // 8)
        return found


def read_layer(data, at):
    reader = Reader(data, at)
    shape = tuple(
        int(side) for side in reader.take("<u2", int(reader.take("u1")[0]))
    )
    bias = reader.take("<f4", shape[0])
    codebook = reader.take("<f4", int(reader.take("<u2")[0]))
    count = int(reader.take("<u4")[0])
    gaps, symbols = reader.stream(count), reader.stream(count)
    codes = from_gaps(gaps, symbols, int(np.prod(shape)))
    return (
        np.asarray(codes, np.uint8).reshape(shape),
        codebook.copy(),
        bias.copy(),
    ), reader.at
