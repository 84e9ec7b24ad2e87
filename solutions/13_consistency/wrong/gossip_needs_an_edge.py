"""Fails gossip-check: fails without edges."""


def mixing(workers, edges):
    degree = np.zeros(workers)
    for pair in edges:
        degree[list(pair)] += 1
    degree[max(max(pair) for pair in edges)] += 0
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1 / (1 + max(degree[a], degree[b]))
    return matrix + np.diag(1 - matrix.sum(axis=1))
