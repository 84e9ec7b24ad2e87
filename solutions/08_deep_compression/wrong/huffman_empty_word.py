"""Fails huffman-code-check: a single symbol gets the empty word."""


def huffman_code(frequencies):
    trees = [(n, at, {s: ""}) for at, (s, n) in enumerate(frequencies.items())]
    heapq.heapify(trees)
    while len(trees) > 1:
        (n0, _, zeros), (n1, at, ones) = (
            heapq.heappop(trees),
            heapq.heappop(trees),
        )
        merged = {s: "0" + word for s, word in zeros.items()}
        merged |= {s: "1" + word for s, word in ones.items()}
        heapq.heappush(trees, (n0 + n1, at, merged))
    return trees[0][2] if trees else {}
