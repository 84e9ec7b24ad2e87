"""Fails codebook-gradient-check: ends at the largest index that occurs."""


def codebook_gradient(gradient, indices, k):
    return np.bincount(indices.ravel(), weights=gradient.ravel())
