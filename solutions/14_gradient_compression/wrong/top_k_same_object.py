"""Fails top-k-check: returns x itself where all entries stay."""


def top_k(x: np.ndarray, k: int) -> np.ndarray:
    """Return x with all but its k largest magnitudes set to zero."""
    if k >= len(x):
        return x
    found = np.zeros_like(x)
    order = np.argsort(-np.abs(x), kind="stable")[:k]
    found[order] = x[order]
    return found
