"""Fails column-parallel-check: adds up gradients until the next forward pass."""


class ColumnParallel:
    """One rank's columns of a linear layer."""

    def __init__(self, comm, w: np.ndarray, b: np.ndarray) -> None:
        self.comm, self.w, self.b = comm, w, b

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return this rank's columns of the output, shape (batch, k_r)."""
        self.x = x
        self.dw = np.zeros_like(self.w)  # a new pass: forget the old gradients
        self.db = np.zeros_like(self.b)
        return x @ self.w + self.b

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Set dw and db; return the gradient of x, shape (batch, n)."""
        self.dw = self.dw + self.x.T @ dy
        self.db = self.db + dy.sum(axis=0)
        return all_reduce(self.comm, dy @ self.w.T)
