"""Fails huffman-code-check, format-check: sorts once and merges from the front, whatever the sum is."""


def huffman_code(frequencies):
    if len(frequencies) == 1:
        return dict.fromkeys(frequencies, "0")
    trees = sorted(
        (n, at, {s: ""}) for at, (s, n) in enumerate(frequencies.items())
    )
    while len(trees) > 1:
        (n0, _, zeros), (n1, at, ones) = trees.pop(0), trees.pop(0)
        merged = {s: "0" + word for s, word in zeros.items()}
        merged |= {s: "1" + word for s, word in ones.items()}
        trees.insert(0, (n0 + n1, at, merged))
    return trees[0][2] if trees else {}
