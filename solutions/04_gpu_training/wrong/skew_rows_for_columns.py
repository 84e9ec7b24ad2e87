"""Fails systolic-check: feeds row i of a to row i of the array."""


def skew(a, d):
    m, k = a.shape
    feeds = np.zeros((m + 2 * d - 2, d))
    for i in range(min(m, d)):
        feeds[i : i + k, i] = a[i]
    return feeds
