"""Fails encode-check, format-check: adds a whole byte of zeros to a full last byte."""


def encode(symbols, code):
    bits = "".join(code[int(s)] for s in symbols)
    bits += "0" * (8 - len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
