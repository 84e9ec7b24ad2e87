"""Fails sharded-linear-check: its part is a view of the whole."""


class ShardedLinear:
    def __init__(self, comm, w):
        self.comm, self.shape = (comm, w.shape)
        self.part = np.array_split(w.ravel(), comm.size)[comm.rank]

    def forward(self, x):
        self.x = x
        return x @ all_gather(self.comm, self.part).reshape(self.shape)

    def backward(self, dy):
        w = all_gather(self.comm, self.part).reshape(self.shape)
        self.grad = reduce_scatter(self.comm, self.x.T @ dy)
        return dy @ w.T
