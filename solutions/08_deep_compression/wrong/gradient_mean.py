"""Fails codebook-gradient-check: the mean over the shared weights instead of the sum."""


def codebook_gradient(gradient, indices, k):
    total = np.bincount(indices.ravel(), weights=gradient.ravel(), minlength=k)
    return total / np.maximum(np.bincount(indices.ravel(), minlength=k), 1)
