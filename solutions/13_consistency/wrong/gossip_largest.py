"""Fails gossip-check: the largest eigenvalue."""


def shrinks(matrix):
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return float(sizes[-1]) if len(sizes) > 1 else 0.0
