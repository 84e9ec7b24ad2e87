"""Fails gossip-check: eigenvalues below zero count as small."""


def shrinks(matrix):
    sizes = np.sort(np.linalg.eigvalsh(matrix))
    return float(sizes[-2]) if len(sizes) > 1 else 0.0
