"""Fails encode-check, format-check: the first bit becomes the lowest of the byte."""


def encode(symbols, code):
    bits = "".join(code[int(s)] for s in symbols)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits), 8))
