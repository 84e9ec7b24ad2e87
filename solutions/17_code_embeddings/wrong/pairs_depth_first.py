"""Fails skipgram-pairs-check: depth-first with one set of seen statements: what is met first on a detour is not gone on from."""

import numpy as np


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    """Return (centre, context) for all statements at most width apart."""
    n = len(codes)
    beside = [set() for _ in range(n)]
    for a, b in edges.tolist():
        beside[a].add(b)
        beside[b].add(a)
    found = []
    for i in range(n):
        seen = {i}

        def visit(at, left):
            if left == 0:
                return
            for to in sorted(beside[at]):
                if to not in seen:
                    seen.add(to)
                    visit(to, left - 1)

        visit(i, width)
        found += [(codes[i], codes[j]) for j in sorted(seen - {i})]
    return np.array(found, np.int64).reshape(-1, 2)
