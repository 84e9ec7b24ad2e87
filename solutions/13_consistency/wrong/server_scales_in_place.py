"""Fails server-check: multiplies the gradient in place."""


class Server:
    def __init__(self, weights, rate: float, aware: bool = False) -> None:
        self.weights = np.array(weights, np.float32)
        self.rate, self.aware = rate, aware
        self.pushes, self.pulled = 0, {}

    def pull(self, worker: int) -> np.ndarray:
        self.pulled[worker] = self.pushes
        return self.weights.copy()

    def push(self, worker: int, gradient: np.ndarray) -> None:
        stale = self.pushes - self.pulled[worker]
        gradient *= self.rate / (1 + stale) if self.aware else self.rate
        self.weights -= gradient
        self.pushes += 1
