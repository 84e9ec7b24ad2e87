"""Fails format-check: pickled arrays, which are not small."""

import pickle


def layer_parts(codes, codebook, bias, gap_bits=6):
    data = pickle.dumps((codes, codebook, bias))
    return {"length": struct.pack("<I", len(data)), "pickle": data}


def read_layer(data, at):
    (length,) = struct.unpack_from("<I", data, at)
    return pickle.loads(data[at + 4 : at + 4 + length]), at + 4 + length
