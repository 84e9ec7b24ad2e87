"""Fails huffman-code-check, format-check: no symbols end in an IndexError."""


def huffman_code(frequencies):
    trees = [(n, at, {s: ""}) for at, (s, n) in enumerate(frequencies.items())]
    if len(trees) == 1:
        return dict.fromkeys(frequencies, "0")
    heapq.heapify(trees)
    while len(trees) > 1:
        (n0, _, zeros), (n1, at, ones) = (
            heapq.heappop(trees),
            heapq.heappop(trees),
        )
        merged = {s: "0" + word for s, word in zeros.items()}
        merged |= {s: "1" + word for s, word in ones.items()}
        heapq.heappush(trees, (n0 + n1, at, merged))
    return trees[0][2]
