"""Fails gossip-check: nobody keeps anything of its own."""


def mixing(workers, edges):
    degree = np.zeros(workers)
    for pair in edges:
        degree[list(pair)] += 1
    matrix = np.zeros((workers, workers))
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = 1 / max(degree[a], degree[b])
    return matrix + np.diag(1 - matrix.sum(axis=1))
