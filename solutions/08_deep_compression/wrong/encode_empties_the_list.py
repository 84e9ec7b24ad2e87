"""Fails encode-check: takes the symbols out of the caller's list."""


def encode(symbols, code):
    bits = "".join(code[int(symbol)] for symbol in symbols)
    if isinstance(symbols, list):
        symbols.clear()
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
