"""Fails magnitude-mask-check: rounds half an entry up, where round goes to the even number."""


def magnitude_mask(w, sparsity):
    n = int(sparsity * w.size + 0.5)
    mask = np.ones(w.size, bool)
    mask[np.argsort(np.abs(w), axis=None)[:n]] = False
    return mask.reshape(w.shape)
