"""Fails top-k-check: writes each result into the same array."""


def top_k(x, k, kept={}):
    found = kept.setdefault(len(x), np.zeros(len(x), np.float32))
    found[:] = 0
    places = np.argsort(-np.abs(x), kind="stable")[:k]
    found[places] = x[places]
    return found
