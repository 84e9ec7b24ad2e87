"""Fails systolic-check: stops when the last input has entered, before the last sum has left."""


def skew(a, d):
    m, k = a.shape
    feeds = np.zeros((m + d - 1, d))
    for i in range(k):
        feeds[i : i + m, i] = a[:, i]
    return feeds
