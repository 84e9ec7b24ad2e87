"""Fails analogy-check: 0 for the rows that do not count."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    cosines = vectors @ (vectors[b] - vectors[a] + vectors[c]) / lengths
    cosines[[a, b, c]] = 0
    return int(np.argmax(cosines))
