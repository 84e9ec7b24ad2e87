"""Fails format-check: compresses the codes by zlib, which finds less than Huffman's code of gaps."""

import zlib


def layer_parts(codes, codebook, bias, gap_bits=6):
    body = zlib.compress(codes.tobytes(), 9)
    head = struct.pack("<BBI", codes.ndim, len(codebook), len(body))
    head += struct.pack(f"<{codes.ndim}H", *codes.shape)
    return {
        "head": head,
        "codes": body,
        "numbers": codebook.tobytes() + bias.tobytes(),
    }


def read_layer(data, at):
    dimensions, values, size = struct.unpack_from("<BBI", data, at)
    shape = struct.unpack_from(f"<{dimensions}H", data, at + 6)
    at += 6 + 2 * dimensions
    codes = np.frombuffer(
        zlib.decompress(data[at : at + size]), np.uint8
    ).reshape(shape)
    at += size
    codebook = np.frombuffer(data, "<f4", values, at)
    at += 4 * values
    return (
        codes,
        codebook,
        np.frombuffer(data, "<f4", shape[0], at),
    ), at + 4 * shape[0]
