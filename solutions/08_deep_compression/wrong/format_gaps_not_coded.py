"""Fails format-check: gaps as whole bytes, without Huffman's code."""


def layer_parts(codes, codebook, bias, gap_bits: int = 6) -> dict[str, bytes]:
    """Return the bytes of one layer, part by part, in the order in which the file holds them."""
    gaps, symbols = to_gaps(codes.ravel(), gap_bits)
    head = struct.pack("<BBBI", codes.ndim, gap_bits, len(codebook), len(gaps))
    parts = {"header": head + struct.pack(f"<{codes.ndim}H", *codes.shape)}
    streams = {"gaps": (gaps, 2**gap_bits), "indices": (symbols, len(codebook))}
    for name, (stream, possible) in streams.items():
        words = huffman_code(Counter(stream))
        code = canonical({symbol: len(word) for symbol, word in words.items()})
        if name == "gaps":
            code = {s: f"{s:08b}" for s in range(possible)}
        table = bytes(len(code.get(symbol, "")) for symbol in range(possible))
        parts |= {f"table of {name}": table, name: encode(stream, code)}
    parts["codebook"] = codebook[1:].astype("<f4").tobytes()
    parts["biases"] = bias.astype("<f4").tobytes()
    return parts


def read_layer(data: bytes, at: int):
    """Return the layer (codes, codebook, bias) that begins at byte `at`, and where the next does."""
    dimensions, gap_bits, values, count = struct.unpack_from("<BBBI", data, at)
    shape = struct.unpack_from(f"<{dimensions}H", data, at + 7)
    at += 7 + 2 * dimensions
    streams = []
    for possible in (2**gap_bits, values):
        lengths = (
            dict.fromkeys(range(possible), 8)
            if not streams
            else {
                s: length
                for s, length in enumerate(data[at : at + possible])
                if length
            }
        )
        streams.append(decode(data[at + possible :], canonical(lengths), count))
        at += possible + math.ceil(sum(lengths[s] for s in streams[-1]) / 8)
    codes = (
        from_gaps(*streams, math.prod(shape)).astype(np.uint8).reshape(shape)
    )
    codebook = np.zeros(values, np.float32)
    codebook[1:] = np.frombuffer(data, "<f4", values - 1, at)
    at += 4 * (values - 1)
    bias = np.frombuffer(data, "<f4", shape[0], at).astype(np.float32)
    return (codes, codebook, bias), at + 4 * shape[0]
