"""Fails encode-check, format-check: the stream as one number has no zero bytes at its front."""


def decode(data, code, count):
    words = {w: s for s, w in code.items()}
    bits = bin(int.from_bytes(data, "big"))[2:]
    bits = bits.zfill(8 * -(-len(bits) // 8))
    out, word = [], ""
    for bit in bits:
        if len(out) == count:
            break
        word += bit
        if word in words:
            out.append(words[word])
            word = ""
    if len(out) < count:
        raise ValueError
    return out
