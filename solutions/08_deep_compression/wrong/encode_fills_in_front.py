"""Fails encode-check, format-check: the zeros that fill the last byte stand in front of its bits."""


def encode(symbols, code):
    bits = "".join(code[int(s)] for s in symbols)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
