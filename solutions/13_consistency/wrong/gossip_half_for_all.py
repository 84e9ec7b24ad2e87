"""Fails gossip-check: a half for everybody."""


def mixing(workers, edges):
    degree = np.zeros(workers)
    for pair in edges:
        degree[list(pair)] += 1
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 0.5 / max(degree)
    return matrix + np.diag(1 - matrix.sum(axis=1))
