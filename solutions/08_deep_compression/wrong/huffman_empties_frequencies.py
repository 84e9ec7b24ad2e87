"""Fails huffman-code-check: takes the frequencies out of the caller's dictionary."""


def huffman_code(frequencies):
    code = dict.fromkeys(frequencies, "")
    if len(code) == 1:
        return dict.fromkeys(code, "0")
    groups = []
    while frequencies:
        symbol, n = frequencies.popitem()
        groups.append((n, [symbol]))
    while len(groups) > 1:
        groups.sort(key=lambda group: group[0])
        (n0, zeros), (n1, ones) = groups[:2]
        for digit, group in (("0", zeros), ("1", ones)):
            for symbol in group:
                code[symbol] = digit + code[symbol]
        groups[:2] = [(n0 + n1, zeros + ones)]
    return code
