"""Fails power-step-check: computes and sends float64."""


def power_step(m: np.ndarray, q: np.ndarray, mean):
    """Return the mean gradient's approximation (n, k), and the next q."""
    wide = m.astype(np.float64)
    basis = orthonormal(mean(wide @ q))
    new = mean(wide.T @ basis)
    return (basis @ new.T).astype(m.dtype), new.astype(q.dtype)
