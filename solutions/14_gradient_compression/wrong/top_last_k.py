"""Fails top-k-check: takes the last k of a sorted list: all of them where k is 0."""


def top_k(x, k):
    kept = np.zeros_like(x)
    order = np.argsort(np.abs(x)[::-1], kind="stable")
    places = len(x) - 1 - order[-k:]
    kept[places] = x[places]
    return kept
