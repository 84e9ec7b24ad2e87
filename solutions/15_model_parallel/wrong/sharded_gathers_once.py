"""Fails sharded-linear-check: gathers in the first pass alone."""


class ShardedLinear:
    def __init__(self, comm, w):
        self.comm, self.shape = (comm, w.shape)
        self.part = np.array_split(w.ravel(), comm.size)[comm.rank].copy()

    def forward(self, x):
        self.x = x
        if not hasattr(self, "whole"):
            self.whole = all_gather(self.comm, self.part).reshape(self.shape)
        return x @ self.whole

    def backward(self, dy):
        w = all_gather(self.comm, self.part).reshape(self.shape)
        self.grad = reduce_scatter(self.comm, self.x.T @ dy)
        return dy @ w.T
