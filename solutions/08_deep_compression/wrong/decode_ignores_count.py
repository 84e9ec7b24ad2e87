"""Fails encode-check, format-check: the filling zeros are decoded as symbols."""


def decode(data, code, count):
    symbol_of = {word: s for s, word in code.items()}
    found, word = [], ""
    for bit in "".join(f"{byte:08b}" for byte in data):
        word += bit
        if word in symbol_of:
            found.append(symbol_of[word])
            word = ""
    return found
