"""Fails gossip-check: for a single worker 1."""


def mixing(workers: int, edges: list[tuple[int, int]]) -> np.ndarray:
    degree = [0] * workers
    for a, b in edges:
        degree[a] += 1
        degree[b] += 1
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1 / (1 + max(degree[a], degree[b]))
    for a in range(workers):
        matrix[a, a] = 1 - matrix[a].sum()
    return matrix


def shrinks(matrix: np.ndarray) -> float:
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))[::-1]
    return float(sizes[:2][-1])
