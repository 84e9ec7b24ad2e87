"""Fails sharded-linear-check: keeps w, and gathers nothing."""


class ShardedLinear:
    def __init__(self, comm, w):
        self.comm, self.shape = (comm, w.shape)
        self.w = w
        self.part = np.array_split(w.ravel(), comm.size)[comm.rank].copy()

    def forward(self, x):
        self.x = x
        return x @ self.w

    def backward(self, dy):
        w = self.w
        self.grad = reduce_scatter(self.comm, self.x.T @ dy)
        return dy @ w.T
