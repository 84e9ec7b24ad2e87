"""Fails kmeans-codebook-check: stops where np.allclose sees no difference."""


def kmeans_codebook(w: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 2**bits values found by k-means, and each weight's index."""
    w = np.asarray(w, np.float64)
    k = 2**bits
    values = np.linspace(w.min(), w.max(), k)
    while True:
        at = np.searchsorted((values[1:] + values[:-1]) / 2, w)
        count = np.bincount(at, minlength=k)
        total = np.bincount(at, weights=w, minlength=k)
        moved = np.where(count > 0, total / np.maximum(count, 1), values)
        if np.allclose(moved, values, rtol=1e-12):
            return moved, at
        values = moved
