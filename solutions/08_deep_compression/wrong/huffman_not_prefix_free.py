"""Fails huffman-code-check, format-check: short words, but some begin others."""


def huffman_code(frequencies):
    ranked = sorted(frequencies, key=frequencies.get, reverse=True)
    return {symbol: f"{rank:b}" for rank, symbol in enumerate(ranked)}
