"""Fails huffman-code-check, format-check: equal frequencies make the heap compare dictionaries, a TypeError."""


def huffman_code(frequencies):
    if len(frequencies) == 1:
        return dict.fromkeys(frequencies, "0")
    trees = [(n, {s: ""}) for s, n in frequencies.items()]
    heapq.heapify(trees)
    while len(trees) > 1:
        (n0, zeros), (n1, ones) = heapq.heappop(trees), heapq.heappop(trees)
        merged = {s: "0" + word for s, word in zeros.items()}
        merged |= {s: "1" + word for s, word in ones.items()}
        heapq.heappush(trees, (n0 + n1, merged))
    return trees[0][1] if trees else {}
