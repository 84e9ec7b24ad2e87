"""Fails top-k-check: returns float64."""


def top_k(x, k):
    kept = np.zeros(len(x))
    places = np.argsort(-np.abs(x), kind="stable")[:k]
    kept[places] = x[places]
    return kept
