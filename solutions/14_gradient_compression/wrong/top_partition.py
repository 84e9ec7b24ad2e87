"""Fails top-k-check: chooses with a partition, which fails for k of n and more."""


def top_k(x, k):
    kept = np.zeros_like(x)
    places = np.argpartition(-np.abs(x), k)[:k]
    kept[places] = x[places]
    return kept
