"""Fails top-k-check: returns the k entries without their places."""


def top_k(x, k):
    return x[np.sort(np.argsort(-np.abs(x), kind="stable")[:k])]
