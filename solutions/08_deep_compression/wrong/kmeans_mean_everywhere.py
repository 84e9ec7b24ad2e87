"""Fails kmeans-codebook-check: every value of the codebook is the mean of all weights."""


def kmeans_codebook(w, bits):
    return np.full(2**bits, np.mean(w)), np.zeros(len(w), np.int64)
