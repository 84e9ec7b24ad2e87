"""Fails top-k-check: keeps what is larger than the k-th."""


def top_k(x, k):
    if k >= len(x):
        return x.copy()
    least = np.sort(np.abs(x))[len(x) - k - 1]
    return np.where(np.abs(x) > least, x, np.float32(0))
