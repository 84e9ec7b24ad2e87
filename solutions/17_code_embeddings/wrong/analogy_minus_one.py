"""Fails analogy-check: divides by zero where a row is zero."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = vectors @ (vectors[b] - vectors[a] + vectors[c]) / lengths
    cosines[[a, b, c]] = -np.inf
    return int(np.argmax(cosines))
