"""Fails sharded-linear-check: a function that the layer keeps holds the whole w."""


class ShardedLinear:
    """A linear layer whose weights are cut over the ranks while unused."""

    def __init__(self, comm, w: np.ndarray) -> None:
        w = w.copy()
        self.comm = comm
        self.part = np.array_split(w.ravel(), comm.size)[comm.rank].copy()
        self.whole = lambda: all_gather(comm, self.part).reshape(w.shape)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return x @ w of this rank's own x, shape (batch_r, k)."""
        self.x = x
        return x @ self.whole()

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Set grad, flat; return the gradient of x, shape (batch_r, n)."""
        self.grad = reduce_scatter(self.comm, self.x.T @ dy)
        return dy @ self.whole().T
