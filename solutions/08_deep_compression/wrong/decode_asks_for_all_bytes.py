"""Fails encode-check, format-check: bytes that follow the stream are an error."""


def decode(data, code, count):
    symbol_of = {word: s for s, word in code.items()}
    found, word = [], ""
    for bit in "".join(f"{byte:08b}" for byte in data):
        word += bit
        if word in symbol_of:
            found.append(symbol_of[word])
            word = ""
    if len(found) < count or len(data) > (sum(len(code[s]) for s in found[:count]) + 7) // 8:
        raise ValueError("the data does not end where it should")
    return found[:count]
