"""Fails sharded-linear-check: keeps the gathered weights for backward."""


class ShardedLinear:
    def __init__(self, comm, w):
        self.comm, self.shape = (comm, w.shape)
        self.part = np.array_split(w.ravel(), comm.size)[comm.rank].copy()

    def forward(self, x):
        self.x = x
        self.whole = all_gather(self.comm, self.part).reshape(self.shape)
        return x @ self.whole

    def backward(self, dy):
        w = self.whole
        self.grad = reduce_scatter(self.comm, self.x.T @ dy)
        return dy @ w.T
