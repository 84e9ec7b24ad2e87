"""Fails magnitude-mask-check: takes the magnitude in place and changes w."""


def magnitude_mask(w, sparsity):
    np.abs(w, out=w)
    order = np.argsort(w, axis=None)
    mask = np.ones(w.size, bool)
    mask[order[: round(sparsity * w.size)]] = False
    return mask.reshape(w.shape)
