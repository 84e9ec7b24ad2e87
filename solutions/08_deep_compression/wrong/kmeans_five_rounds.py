"""Fails kmeans-codebook-check: stops after five rounds."""


def kmeans_codebook(w, bits):
    w = np.asarray(w, np.float64)
    k = 2**bits
    codebook = np.linspace(w.min(), w.max(), k)
    indices = None
    for _ in range(5):
        nearest = np.abs(w[:, None] - codebook).argmin(axis=1)
        if indices is not None and (nearest == indices).all():
            break
        indices = nearest
        for j in range(k):
            if (indices == j).any():
                codebook[j] = w[indices == j].mean()
    return codebook, indices
