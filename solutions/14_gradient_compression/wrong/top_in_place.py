"""Fails top-k-check: sets the other entries of x to zero."""


def top_k(x, k):
    x[np.argsort(-np.abs(x), kind="stable")[k:]] = 0
    return x
