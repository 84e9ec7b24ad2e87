"""Fails analogy-check: differences of unit vectors."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    cosines = (
        vectors
        @ (
            vectors[b] / lengths[b]
            - vectors[a] / lengths[a]
            + vectors[c] / lengths[c]
        )
        / lengths
    )
    cosines[[a, b, c]] = -np.inf
    return int(np.argmax(cosines))
