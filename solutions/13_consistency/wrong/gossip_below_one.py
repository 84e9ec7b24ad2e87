"""Fails gossip-check: the largest that is not 1."""


def shrinks(matrix):
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return float(max(sizes[sizes < 1 - 1e-9], default=0.0))
