"""Fails skipgram-pairs-check: sorts the given edges in place to drop doubles."""

import numpy as np


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    """Return (centre, context) for all statements at most width apart."""
    n = len(codes)
    edges.sort(axis=1)
    away = np.full((n, n), n + 1)
    for a, b in np.unique(edges, axis=0):
        away[a, b] = away[b, a] = 1
    np.fill_diagonal(away, 0)
    for k in range(n):
        away = np.minimum(away, away[:, k : k + 1] + away[k])
    centre, context = np.nonzero((away > 0) & (away <= min(width, n)))
    return np.stack([codes[centre], codes[context]], axis=1)
