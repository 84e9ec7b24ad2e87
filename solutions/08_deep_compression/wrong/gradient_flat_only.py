"""Fails codebook-gradient-check: does not flatten arrays of more dimensions."""


def codebook_gradient(gradient, indices, k):
    return np.bincount(indices, weights=gradient, minlength=k)
