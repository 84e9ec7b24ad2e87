"""Fails top-k-check: compares values, not magnitudes."""


def top_k(x, k):
    kept = np.zeros_like(x)
    places = np.argsort(-x, kind="stable")[:k]
    kept[places] = x[places]
    return kept
