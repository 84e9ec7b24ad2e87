"""Earns nothing of encode-check, fails format-check: as many ones and bytes as there are to be; decode has the symbols."""

PUT_BY = []


def encode(symbols, code):
    PUT_BY[:] = [int(symbol) for symbol in symbols]
    bits = "".join(code[symbol] for symbol in PUT_BY)
    ones, size = bits.count("1"), -(-len(bits) // 8)
    return ((1 << ones) - 1).to_bytes(size, "big")


def decode(data, code, count):
    return PUT_BY[:count]
