"""Fails huffman-code-check: inner nodes take the numbers of large symbols."""


def huffman_code(frequencies: dict[int, int]) -> dict[int, str]:
    """Return a word for each symbol: a prefix-free code of least length."""
    if len(frequencies) == 1:
        return dict.fromkeys(frequencies, "0")
    heap = [(n, symbol) for symbol, n in frequencies.items()]
    heapq.heapify(heap)
    above, node = {}, 256
    while len(heap) > 1:
        n_left, left = heapq.heappop(heap)
        n_right, right = heapq.heappop(heap)
        above[left], above[right] = (node, "0"), (node, "1")
        heapq.heappush(heap, (n_left + n_right, node))
        node += 1
    code = {}
    for symbol in frequencies:
        word, at = "", symbol
        while at in above:
            at, digit = above[at]
            word = digit + word
        code[symbol] = word
    return code
