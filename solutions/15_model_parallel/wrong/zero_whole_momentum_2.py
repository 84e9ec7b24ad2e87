"""Fails zero-sgd-check: keeps all of the momentum and shows a part of it."""


class ZeroSGD:
    """Gradient descent with momentum, of which each rank holds a part."""

    def __init__(self, comm, w: np.ndarray, lr: float, mu: float) -> None:
        self.comm, self.w, self.lr, self.mu = comm, w.copy(), lr, mu
        self.velocity = np.zeros(w.size, w.dtype)

    @property
    def momentum(self):
        """Return this rank's part of the momentum."""
        return np.array_split(self.velocity, self.comm.size)[self.comm.rank]

    def step(self, gradient: np.ndarray) -> None:
        """Update this rank's part; gather all parts into w."""
        rank, size = self.comm.rank, self.comm.size
        g = reduce_scatter(self.comm, gradient)
        velocity = self.velocity.copy()
        mine = np.array_split(velocity, size)[rank]
        mine[...] = self.mu * mine + g
        self.velocity = velocity
        part = np.array_split(self.w.ravel(), size)[rank] - self.lr * mine
        self.w = all_gather(self.comm, part).reshape(self.w.shape)
