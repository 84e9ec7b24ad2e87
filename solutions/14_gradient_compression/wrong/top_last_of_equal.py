"""Fails top-k-check: of equal magnitudes the last come first."""


def top_k(x, k):
    kept = np.zeros_like(x)
    places = np.argsort(np.abs(x), kind="stable")[::-1][:k]
    kept[places] = x[places]
    return kept
