"""Fails row-parallel-check: sends two all-reduces of halves."""


class RowParallel:
    """One rank's rows of a linear layer."""

    def __init__(self, comm, w: np.ndarray, b: np.ndarray) -> None:
        self.comm, self.w, self.b = comm, w, b

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return all of the output, shape (batch, k)."""
        self.x = x
        y = x @ self.w
        size = self.comm.size
        # two buckets, the first entry of each part and the others, so that
        # each is cut over the ranks as the whole would be
        places = np.array_split(np.arange(y.size), size)
        if min(len(p) for p in places) < 2:
            return all_reduce(self.comm, y) + self.b
        total = np.empty(y.size, y.dtype)
        for bucket in ([p[:1] for p in places], [p[1:] for p in places]):
            at = np.concatenate(bucket)
            total[at] = all_reduce(self.comm, y.ravel()[at])
        return total.reshape(y.shape) + self.b

    def backward(self, dy: np.ndarray) -> np.ndarray:
        """Set dw and db; return the gradient of x, shape (batch, n_r)."""
        self.dw = self.x.T @ dy
        self.db = dy.sum(axis=0)
        return dy @ self.w.T
