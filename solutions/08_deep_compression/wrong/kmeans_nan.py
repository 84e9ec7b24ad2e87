"""Fails kmeans-codebook-check: the mean of no weights is nan."""


def kmeans_codebook(w, bits):
    w = np.asarray(w, np.float64)
    k = 2**bits
    codebook = np.linspace(w.min(), w.max(), k)
    indices = None
    for _ in range(300):
        nearest = np.abs(w[:, None] - codebook).argmin(axis=1)
        if indices is not None and (nearest == indices).all():
            break
        indices = nearest
        for j in range(k):
            codebook[j] = w[indices == j].sum() / np.float64(
                (indices == j).sum()
            )
    return codebook, indices
