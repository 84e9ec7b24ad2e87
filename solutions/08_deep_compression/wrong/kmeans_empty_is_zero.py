"""Fails kmeans-codebook-check: a value without weights becomes 0."""


def kmeans_codebook(w, bits):
    w = np.asarray(w, np.float64)
    k = 2**bits
    codebook = np.linspace(w.min(), w.max(), k)
    indices = None
    while True:
        nearest = np.abs(w[:, None] - codebook).argmin(axis=1)
        if indices is not None and (nearest == indices).all():
            break
        indices = nearest
        for j in range(k):
            codebook[j] = w[indices == j].sum() / max(1, (indices == j).sum())
    return codebook, indices
