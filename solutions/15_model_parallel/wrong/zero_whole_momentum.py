"""Fails zero-sgd-check: each rank holds all of the momentum."""


class ZeroSGD:
    def __init__(self, comm, w, lr, mu):
        self.comm, self.w, self.lr, self.mu = comm, w.copy(), lr, mu
        self.momentum = np.zeros_like(w)

    def step(self, gradient):
        self.momentum = self.mu * self.momentum + all_reduce(
            self.comm, gradient
        )
        self.w = self.w - self.lr * self.momentum
