"""Fails magnitude-mask-check: prunes the smallest weights, not the smallest magnitudes."""


def magnitude_mask(w, sparsity):
    order = np.argsort(w, axis=None)
    mask = np.ones(w.size, bool)
    mask[order[: round(sparsity * w.size)]] = False
    return mask.reshape(w.shape)
