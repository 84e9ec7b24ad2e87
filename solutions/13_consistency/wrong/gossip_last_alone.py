"""Fails gossip-check: leaves out a last worker without neighbours."""


def mixing(workers: int, edges: list[tuple[int, int]]) -> np.ndarray:
    degree = np.bincount(np.array(edges).ravel())
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1 / (1 + max(degree[a], degree[b]))
    for a in range(len(degree)):
        matrix[a, a] = 1 - matrix[a].sum()
    return matrix


def shrinks(matrix: np.ndarray) -> float:
    sizes = sorted(abs(np.linalg.eigvalsh(matrix)))
    return float(sizes[-2]) if len(sizes) > 1 else 0.0
