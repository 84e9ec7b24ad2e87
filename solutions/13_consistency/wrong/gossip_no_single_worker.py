"""Fails gossip-check: fails for one worker."""


def shrinks(matrix):
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))
    return float(sizes[-2])
