"""Fails skipgram-pairs-check: each pair of codes once."""


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    n = len(codes)
    step = np.eye(n, dtype=np.int64)
    step[edges[:, 0], edges[:, 1]] = 1
    step |= step.T
    near = np.eye(n, dtype=np.int64)
    for _ in range(width):
        near = np.minimum(near @ step, 1)
    np.fill_diagonal(near, 0)
    return np.unique(codes[np.argwhere(near)], axis=0).reshape(-1, 2)
