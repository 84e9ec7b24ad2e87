"""Fails analogy-check: the largest magnitude of a cosine."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    cosines = vectors @ (vectors[b] - vectors[a] + vectors[c]) / lengths
    cosines = np.abs(cosines)
    cosines[[a, b, c]] = -np.inf
    return int(np.argmax(cosines))
