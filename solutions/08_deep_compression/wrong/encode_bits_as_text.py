"""Fails encode-check, format-check: one byte for each bit."""


def encode(symbols, code):
    bits = "".join(code[int(s)] for s in symbols)
    return bits.encode()
