"""Fails top-k-check: keeps one entry even where k is 0."""


def top_k(x, k):
    kept = np.zeros_like(x)
    places = np.argsort(-np.abs(x), kind="stable")[: max(k, 1)]
    kept[places] = x[places]
    return kept
