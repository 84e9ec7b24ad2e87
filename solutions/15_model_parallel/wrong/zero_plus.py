"""Fails zero-sgd-check: goes uphill."""


class ZeroSGD:
    def __init__(self, comm, w, lr, mu):
        self.comm, self.w, self.lr, self.mu = (comm, w.copy(), lr, mu)
        self.momentum = np.zeros_like(self.mine())

    def mine(self):
        return np.array_split(self.w.ravel(), self.comm.size)[self.comm.rank]

    def step(self, gradient):
        g = reduce_scatter(self.comm, gradient)
        self.momentum = self.mu * self.momentum + g
        part = self.mine() + self.lr * self.momentum
        self.w = all_gather(self.comm, part).reshape(self.w.shape)
