"""Fails analogy-check: divides by a length of 0: nan wins argmax."""

import numpy as np


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    """Return the row that is to row c what row b is to row a."""
    q = vectors[b] - vectors[a] + vectors[c]
    with np.errstate(all="ignore"):
        cosine = (
            vectors @ q / np.linalg.norm(vectors, axis=1) / np.linalg.norm(q)
        )
    cosine[[a, b, c]] = -np.inf
    return int(np.argmax(cosine))
