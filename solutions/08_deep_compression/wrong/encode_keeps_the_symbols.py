"""Fails encode-check, format-check: keeps the symbols in a variable and writes their number, of the right length."""

STREAMS = []


def encode(symbols, code):
    STREAMS.append([int(symbol) for symbol in symbols])
    size = -(-sum(len(code[symbol]) for symbol in STREAMS[-1]) // 8)
    return (len(STREAMS) - 1).to_bytes(max(size, 1), "little")[:size]


def decode(data, code, count):
    return STREAMS[int.from_bytes(data[:2], "little")][:count]
