"""Fails server-check: keeps the array of the caller."""


class Server:
    def __init__(self, weights, rate, aware=False):
        self.weights, self.rate, self.aware = weights, rate, aware
        self.pushes, self.seen = 0, {}

    def pull(self, worker):
        self.seen[worker] = self.pushes
        return self.weights.copy()

    def push(self, worker, gradient):
        stale = self.pushes - self.seen[worker] if self.aware else 0
        step = np.float32(self.rate / (1 + stale)) * gradient
        self.weights = self.weights - step
        self.pushes += 1
