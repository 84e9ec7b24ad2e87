"""Fails magnitude-mask-check: 1.0 and 0.0, which cannot be used as an index."""


def magnitude_mask(w, sparsity):
    order = np.argsort(np.abs(w), axis=None)
    mask = np.ones(w.size)
    mask[order[: round(sparsity * w.size)]] = 0
    return mask.reshape(w.shape)
