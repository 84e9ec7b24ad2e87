"""Fails encode-check, format-check: one large number, whose filling zeros stand in front of the first bit."""


def encode(symbols, code):
    bits = "".join(code[int(s)] for s in symbols)
    return int("0" + bits, 2).to_bytes((len(bits) + 7) // 8, "big")
