"""Fails sharded-linear-check: its part of its own gradient, not of the sum."""


class ShardedLinear:
    def __init__(self, comm, w):
        self.comm, self.shape = (comm, w.shape)
        self.part = np.array_split(w.ravel(), comm.size)[comm.rank].copy()

    def forward(self, x):
        self.x = x
        return x @ all_gather(self.comm, self.part).reshape(self.shape)

    def backward(self, dy):
        w = all_gather(self.comm, self.part).reshape(self.shape)
        self.grad = np.array_split((self.x.T @ dy).ravel(), self.comm.size)[
            self.comm.rank
        ].copy()
        return dy @ w.T
