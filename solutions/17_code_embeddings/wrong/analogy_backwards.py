"""Fails analogy-check: a minus b plus c."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    cosines = vectors @ (vectors[a] - vectors[b] + vectors[c]) / lengths
    cosines[[a, b, c]] = -np.inf
    return int(np.argmax(cosines))
