"""Fails analogy-check: leaves out only a and c."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    cosines = vectors @ (vectors[b] - vectors[a] + vectors[c]) / lengths
    cosines[[a, c]] = -np.inf
    return int(np.argmax(cosines))
