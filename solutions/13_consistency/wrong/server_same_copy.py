"""Fails server-check: a second pull of a version hands out the same array, overwritten."""


class Server:
    """A parameter server: holds the weights, and adds what arrives."""

    def __init__(self, weights, rate: float, aware: bool = False) -> None:
        self.weights = np.array(weights, dtype=np.float32)
        self.rate, self.aware, self.version = rate, aware, 0
        self.read, self.copies = {}, {}

    def pull(self, worker: int) -> np.ndarray:
        """Return the weights for a worker."""
        if self.read.get(worker) != self.version:  # else it has them already
            self.read[worker] = self.version
            self.copies[worker] = self.weights.copy()
        return self.copies[worker]

    def push(self, worker: int, gradient: np.ndarray) -> None:
        """Step down the gradient, less far if it is stale and that counts."""
        rate = self.rate
        if self.aware:
            rate /= 1 + self.version - self.read[worker]
        self.weights -= np.float32(rate) * gradient
        self.version += 1
