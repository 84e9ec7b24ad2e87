"""Fails magnitude-mask-check: a threshold drops or keeps all equal magnitudes at once."""


def magnitude_mask(w, sparsity):
    return np.abs(w) > np.quantile(np.abs(w), sparsity)
