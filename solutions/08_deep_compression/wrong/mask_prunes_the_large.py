"""Fails magnitude-mask-check: keeps the smallest instead of the largest."""


def magnitude_mask(w, sparsity):
    order = np.argsort(-np.abs(w), axis=None)
    mask = np.ones(w.size, bool)
    mask[order[: round(sparsity * w.size)]] = False
    return mask.reshape(w.shape)
