"""Fails skipgram-pairs-check: counts ways until they overflow."""


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    n = len(codes)
    step = np.eye(n, dtype=np.int64)
    step[edges[:, 0], edges[:, 1]] = 1
    step |= step.T
    near = np.eye(n, dtype=np.int64)
    for _ in range(width):
        near = near @ step
    np.fill_diagonal(near, 0)
    return codes[np.argwhere(near)]
