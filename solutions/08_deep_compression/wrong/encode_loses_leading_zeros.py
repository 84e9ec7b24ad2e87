"""Fails encode-check, format-check: a number forgets the zeros it begins with."""


def encode(symbols, code):
    bits = "".join(code[int(s)] for s in symbols)
    bits += "0" * (-len(bits) % 8)
    number = int(bits or "0", 2)
    return number.to_bytes((number.bit_length() + 7) // 8, "big")
