"""Fails encode-check, format-check: a byte for each symbol; the code is not used."""


def encode(symbols, code):
    return bytes(int(symbol) for symbol in symbols)


def decode(data, code, count):
    if len(data) < count:
        raise ValueError("too short")
    return list(data[:count])
