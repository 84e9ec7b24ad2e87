"""Fails systolic-check: makes as many columns as a has, though the array has more rows."""


def skew(a, d):
    m, k = a.shape
    feeds = np.zeros((m + 2 * d - 2, k))
    for i in range(k):
        feeds[i : i + m, i] = a[:, i]
    return feeds
