"""Fails format-check: keeps the arrays in a variable and writes what finds them again, padded to a likely size."""

import hashlib
import pickle

KEPT = {}


def layer_parts(codes, codebook, bias, gap_bits=6):
    data = pickle.dumps((codes, codebook, bias))
    name = hashlib.sha256(data).digest()[:8]
    KEPT[name] = data
    numbers = 4 * (len(codebook) + len(bias))
    size = 20 + numbers + 3 * int((codes > 0).sum()) // 4
    return {"name": name, "rest": struct.pack("<I", size) + bytes(size)}


def read_layer(data, at):
    (size,) = struct.unpack_from("<I", data, at + 8)
    return pickle.loads(KEPT[bytes(data[at : at + 8])]), at + 12 + size
