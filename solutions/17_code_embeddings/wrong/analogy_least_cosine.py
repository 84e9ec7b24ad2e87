"""Fails analogy-check: rows a, b and c get a cosine of -1."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    """Return the row that is to row c what row b is to row a."""
    q = vectors[b] - vectors[a] + vectors[c]
    size = np.linalg.norm(vectors, axis=1) * np.linalg.norm(q)
    cosine = np.where(size > 0, vectors @ q / np.where(size > 0, size, 1), 0.0)
    cosine[[a, b, c]] = -1
    return int(np.argmax(cosine))
