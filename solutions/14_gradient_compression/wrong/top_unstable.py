"""Fails top-k-check: sorts in a way that does not keep ties in order."""


def top_k(x, k):
    kept = np.zeros_like(x)
    places = np.argsort(-np.abs(x), kind="quicksort")[:k]
    kept[places] = x[places]
    return kept
