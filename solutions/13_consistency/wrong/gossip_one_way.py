"""Fails gossip-check: each pair in one direction only."""


def mixing(workers, edges):
    degree = np.zeros(workers)
    for pair in edges:
        degree[list(pair)] += 1
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = 1 / (1 + max(degree[a], degree[b]))
    return matrix + np.diag(1 - matrix.sum(axis=1))
