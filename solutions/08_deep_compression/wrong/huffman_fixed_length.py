"""Fails huffman-code-check, format-check: words of one length for all symbols."""


def huffman_code(frequencies):
    width = max(1, (len(frequencies) - 1).bit_length())
    return {symbol: f"{at:0{width}b}" for at, symbol in enumerate(frequencies)}
