"""Fails kmeans-codebook-check: moves each value to the median of its weights."""


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
            if (indices == j).any():
                codebook[j] = np.median(w[indices == j])
    return codebook, indices
