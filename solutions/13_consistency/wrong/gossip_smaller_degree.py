"""Fails gossip-check: the smaller of the two degrees."""


def mixing(workers, edges):
    degree = np.zeros(workers)
    for pair in edges:
        degree[list(pair)] += 1
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1 / (1 + min(degree[a], degree[b]))
    return matrix + np.diag(1 - matrix.sum(axis=1))
