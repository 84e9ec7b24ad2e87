"""Fails format-check: read_layer begins at byte 0."""


def read_layer(data: bytes, at: int):
    """Return the layer (codes, codebook, bias) that begins at byte `at`, and where the next does."""
    at = 0
    dimensions, gap_bits, values, count = struct.unpack_from("<BBBI", data, at)
    shape = struct.unpack_from(f"<{dimensions}H", data, at + 7)
    at += 7 + 2 * dimensions
    streams = []
    for possible in (2**gap_bits, values):
        lengths = {
            s: length
            for s, length in enumerate(data[at : at + possible])
            if length
        }
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
