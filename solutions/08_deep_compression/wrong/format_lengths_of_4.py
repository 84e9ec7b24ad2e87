"""Fails format-check: words of 16 bits and more do not fit."""


def layer_parts(codes, codebook, bias, gap_bits: int = 6) -> dict[str, bytes]:
    """Return the bytes of one layer, part by part, in the file's order."""
    codes = np.asarray(codes)
    gaps, symbols = to_gaps(codes.ravel(), gap_bits)
    k = len(codebook)
    tables, streams = [], []
    for stream, size in ((gaps, 2**gap_bits), (symbols, k)):
        code = huffman_code(Counter(stream))
        lengths = {s: len(word) for s, word in code.items()}
        row = [lengths.get(s, 0) for s in range(size)] + [0] * (size % 2)
        tables.append(
            bytes(16 * a + b for a, b in zip(row[::2], row[1::2], strict=True))
        )
        streams.append(encode(stream, canonical(lengths)))
    head = struct.pack(
        f"<B{codes.ndim}HBBIII",
        codes.ndim,
        *codes.shape,
        gap_bits,
        k,
        len(gaps),
        len(streams[0]),
        len(streams[1]),
    )
    return {
        "head": head,
        "gap table": tables[0],
        "index table": tables[1],
        "gaps": streams[0],
        "indices": streams[1],
        "codebook": np.asarray(codebook, "<f4").tobytes(),
        "bias": np.asarray(bias, "<f4").tobytes(),
    }


def read_layer(data: bytes, at: int):
    """Return the layer that begins at byte `at`, and where it ends."""
    ndim = data[at]
    layout = f"<B{ndim}HBBIII"
    _, *shape, gap_bits, k, count, n_gaps, n_symbols = struct.unpack_from(
        layout, data, at
    )
    at += struct.calcsize(layout)
    codes = []
    for size in (2**gap_bits, k):
        packed = data[at : at + (size + 1) // 2]
        table = [n for byte in packed for n in (byte >> 4, byte & 15)]
        codes.append(canonical({s: n for s, n in enumerate(table) if n}))
        at += len(packed)
    found = []
    for code, length in zip(codes, (n_gaps, n_symbols), strict=True):
        found.append(decode(data[at : at + length], code, count))
        at += length
    array = from_gaps(*found, math.prod(shape)).astype(np.uint8).reshape(shape)
    numbers = []
    for n in (k, shape[0]):
        numbers.append(np.frombuffer(data, "<f4", n, at).astype(np.float32))
        at += 4 * n
    return (array, *numbers), at
