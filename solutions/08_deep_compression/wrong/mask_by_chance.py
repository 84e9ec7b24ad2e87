"""Fails magnitude-mask-check: prunes entries drawn at random."""


def magnitude_mask(w, sparsity):
    order = np.random.default_rng(0).permutation(w.size)
    return (order >= round(sparsity * w.size)).reshape(w.shape)
