"""Fails magnitude-mask-check: prunes the first entries, whatever their magnitude."""


def magnitude_mask(w, sparsity):
    mask = np.ones(w.size, bool)
    mask[: round(sparsity * w.size)] = False
    return mask.reshape(w.shape)
