"""Fails magnitude-mask-check: prunes the same share of each row instead of the whole array."""


def magnitude_mask(w, sparsity):
    rows = np.abs(w).reshape(len(w), -1) if w.ndim > 1 else np.abs(w)[None]
    count = round(sparsity * rows.shape[1])
    mask = np.ones(rows.shape, bool)
    np.put_along_axis(mask, np.argsort(rows, axis=1)[:, :count], False, axis=1)
    return mask.reshape(w.shape)
