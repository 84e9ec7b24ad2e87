"""Fails gossip-check: the smallest magnitude."""


def shrinks(matrix):
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return float(sizes[0]) if len(sizes) > 1 else 0.0
