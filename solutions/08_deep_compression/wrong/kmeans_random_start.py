"""Fails kmeans-codebook-check: starts from randomly chosen weights."""


def kmeans_codebook(w, bits):
    w = np.asarray(w, np.float64)
    k = 2**bits
    codebook = np.sort(np.random.default_rng(0).choice(w, k))
    indices = None
    while True:
        nearest = np.abs(w[:, None] - codebook).argmin(axis=1)
        if indices is not None and (nearest == indices).all():
            break
        indices = nearest
        for j in range(k):
            if (indices == j).any():
                codebook[j] = w[indices == j].mean()
    return codebook, indices
