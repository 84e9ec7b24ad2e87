"""Fails kmeans-codebook-check: a table of all weights and all values, which takes gigabytes where both are many."""


def kmeans_codebook(w, bits):
    w = np.asarray(w, np.float64)
    values, old = np.linspace(w.min(), w.max(), 2**bits), None
    while True:
        at = np.abs(w[:, None] - values).argmin(axis=1)
        if old is not None and (at == old).all():
            return values, at
        old = at
        for j in np.unique(at):
            values[j] = w[at == j].mean()
