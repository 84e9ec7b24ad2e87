"""Fails top-k-check: keeps everything that is as large as the k-th."""


def top_k(x, k):
    if k == 0:
        return np.zeros_like(x)
    if k >= len(x):
        return x.copy()
    least = np.sort(np.abs(x))[-k]
    return np.where(np.abs(x) >= least, x, np.float32(0))
