"""Fails server-check: all servers share one dictionary and one count."""

SEEN = {}


class Server:
    pushes = 0

    def __init__(self, weights, rate, aware=False):
        self.weights, self.rate, self.aware = weights.copy(), rate, aware
        self.seen = SEEN

    def pull(self, worker):
        self.seen[worker] = self.pushes
        return self.weights.copy()

    def push(self, worker, gradient):
        stale = self.pushes - self.seen[worker] if self.aware else 0
        step = np.float32(self.rate / (1 + stale)) * gradient
        self.weights = self.weights - step
        Server.pushes += 1
