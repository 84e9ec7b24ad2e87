"""Fails huffman-code-check, format-check: words 0, 10, 110, ... by rank."""


def huffman_code(frequencies):
    ranked = sorted(frequencies, key=frequencies.get, reverse=True)
    return {symbol: "1" * rank + "0" for rank, symbol in enumerate(ranked)}
