"""Fails skipgram-pairs-check: a row for each way."""


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    n = len(codes)
    step = np.eye(n, dtype=np.int64)
    step[edges[:, 0], edges[:, 1]] = 1
    step |= step.T
    near = np.eye(n, dtype=np.int64)
    for _ in range(width):
        near = near @ step
    np.fill_diagonal(near, 0)
    rows = np.argwhere(near)
    return codes[np.repeat(rows, near[near > 0], axis=0)]
