"""Fails skipgram-pairs-check: shape (0,) where there are no pairs, and twice what is there twice."""


def skipgram_pairs(edges, codes, width):
    beside = {}
    for a, b in edges.tolist():
        if a != b:
            beside.setdefault(a, []).append(b)
            beside.setdefault(b, []).append(a)
    rows = []
    for i in sorted(beside):
        near = {i}
        for _ in range(width):
            near |= {k for j in near for k in beside[j]}
        rows += [(codes[i], codes[j]) for j in sorted(near - {i})]
    return np.array(rows, np.int64)
