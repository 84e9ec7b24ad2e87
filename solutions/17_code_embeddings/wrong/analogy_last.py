"""Fails analogy-check: the last of equal ones."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    cosines = vectors @ (vectors[b] - vectors[a] + vectors[c]) / lengths
    cosines[[a, b, c]] = -np.inf
    return len(cosines) - 1 - int(np.argmax(cosines[::-1]))
