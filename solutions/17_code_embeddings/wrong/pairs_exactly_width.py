"""Fails skipgram-pairs-check: walks of exactly width edges."""


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    n = len(codes)
    step = np.zeros((n, n), np.int64)
    step[edges[:, 0], edges[:, 1]] = 1
    step |= step.T
    near = np.eye(n, dtype=np.int64)
    for _ in range(width):
        near = np.minimum(near @ step, 1)
    np.fill_diagonal(near, 0)
    return codes[np.argwhere(near)]
