"""Fails format-check: keeps the arrays in a variable and writes a number only."""

KEPT = []


def layer_parts(codes, codebook, bias, gap_bits=6):
    KEPT.append((codes.copy(), codebook.copy(), bias.copy()))
    return {"number": struct.pack("<I", len(KEPT) - 1)}


def read_layer(data, at):
    (number,) = struct.unpack_from("<I", data, at)
    return KEPT[number], at + 4
