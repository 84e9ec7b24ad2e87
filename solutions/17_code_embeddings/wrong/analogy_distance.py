"""Fails analogy-check: the nearest by distance."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    q = vectors[b] - vectors[a] + vectors[c]
    cosines = -np.linalg.norm(vectors - q, axis=1)
    cosines[[a, b, c]] = -np.inf
    return int(np.argmax(cosines))
