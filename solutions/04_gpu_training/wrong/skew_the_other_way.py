"""Fails systolic-check: delays the first row most."""


def skew(a, d):
    m, k = a.shape
    feeds = np.zeros((m + 2 * d - 2, d))
    for i in range(k):
        feeds[k - 1 - i : k - 1 - i + m, i] = a[:, i]
    return feeds
