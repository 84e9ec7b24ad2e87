"""Fails gossip-check: one minus the factor."""


def shrinks(matrix):
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return 1 - float(sizes[-2]) if len(sizes) > 1 else 0.0
