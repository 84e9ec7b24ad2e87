"""Fails skipgram-pairs-check: neighbours in the text, not in the graph."""


def skipgram_pairs(edges, codes, width: int) -> np.ndarray:
    n = len(codes)
    step = np.eye(n, dtype=np.int64)
    step += np.eye(n, k=1, dtype=np.int64)
    step |= step.T
    near = np.eye(n, dtype=np.int64)
    for _ in range(width):
        near = np.minimum(near @ step, 1)
    np.fill_diagonal(near, 0)
    return codes[np.argwhere(near)]
