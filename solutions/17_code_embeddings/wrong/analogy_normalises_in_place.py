"""Fails analogy-check: normalises the vectors in place."""


def analogy(vectors: np.ndarray, a: int, b: int, c: int) -> int:
    lengths = np.linalg.norm(vectors, axis=1)
    lengths[lengths == 0] = 1
    q = vectors[b] - vectors[a] + vectors[c]
    vectors /= lengths[:, None]
    cosines = vectors @ q
    cosines[[a, b, c]] = -np.inf
    return int(np.argmax(cosines))
