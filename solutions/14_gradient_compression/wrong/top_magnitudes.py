"""Fails top-k-check: returns magnitudes."""


def top_k(x, k):
    kept = np.zeros_like(x)
    places = np.argsort(-np.abs(x), kind="stable")[:k]
    kept[places] = np.abs(x[places])
    return kept
