"""Fails skipgram-pairs-check: counts ways in the adjacency matrix, so that an edge given twice makes two pairs at width 1."""

import numpy as np


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    """Return (centre, context) for all statements at most width apart."""
    n = len(codes)
    near = [[] for _ in range(n)]
    for a, b in edges.tolist():
        if a != b:
            near[a].append(b)
            near[b].append(a)
    found = []
    for i in range(n):
        rows, frontier, seen = list(near[i]), near[i], {i, *near[i]}
        for _ in range(width - 1):
            frontier = [k for j in frontier for k in near[j] if k not in seen]
            frontier = list(dict.fromkeys(frontier))
            seen.update(frontier)
            rows += frontier
        found += [(codes[i], codes[j]) for j in sorted(rows)]
    return np.array(found, np.int64).reshape(-1, 2)
