"""Fails top-k-check: keeps the smallest."""


def top_k(x, k):
    kept = np.zeros_like(x)
    places = np.argsort(np.abs(x), kind="stable")[:k]
    kept[places] = x[places]
    return kept
