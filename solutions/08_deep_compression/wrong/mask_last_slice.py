"""Fails magnitude-mask-check: at sparsity 1 the slice [-0:] keeps everything."""


def magnitude_mask(w, sparsity):
    keep = w.size - round(sparsity * w.size)
    mask = np.zeros(w.size, bool)
    mask[np.argsort(np.abs(w), axis=None)[-keep:]] = True
    return mask.reshape(w.shape)
