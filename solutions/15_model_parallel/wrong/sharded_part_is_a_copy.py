"""Fails sharded-linear-check: part is a property that hands out copies."""


class ShardedLinear:
    """A linear layer whose weights are cut over the ranks while unused."""

    def __init__(self, comm, w: np.ndarray) -> None:
        self.comm, self.shape = comm, w.shape
        self._part = np.array_split(w.ravel(), comm.size)[comm.rank].copy()

    @property
    def part(self):
        """Return this rank's part of the weights, safe from changes."""
        return self._part.copy()

    @part.setter
    def part(self, new):
        self._part = np.array(new)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return x @ w of this rank's own x, shape (batch_r, k)."""
        self.x = x
        return x @ all_gather(self.comm, self._part).reshape(self.shape)

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Set grad, flat; return the gradient of x, shape (batch_r, n)."""
        w = all_gather(self.comm, self._part).reshape(self.shape)
        self.grad = reduce_scatter(self.comm, self.x.T @ dy)
        return dy @ w.T
