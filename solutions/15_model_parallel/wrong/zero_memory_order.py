"""Fails zero-sgd-check: lays the weights out in the order of memory."""


class ZeroSGD:
    """Gradient descent with momentum, of which each rank holds a part."""

    def __init__(self, comm, w: np.ndarray, lr: float, mu: float) -> None:
        self.comm, self.lr, self.mu = comm, lr, mu
        self.w = np.copy(w)
        flat = self.w.ravel(order="K")  # no copy, whatever the layout
        self.mine = np.array_split(flat, comm.size)[comm.rank].copy()
        self.momentum = np.zeros_like(self.mine)

    def step(self, gradient: np.ndarray) -> None:
        """Update this rank's part; gather all parts into w."""
        g = reduce_scatter(self.comm, gradient.astype(self.w.dtype))
        self.momentum = self.mu * self.momentum + g
        self.mine = self.mine - self.lr * self.momentum
        self.w = all_gather(self.comm, self.mine).reshape(self.w.shape)
