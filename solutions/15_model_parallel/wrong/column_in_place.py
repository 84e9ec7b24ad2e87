"""Fails column-parallel-check: adds up the columns of dy into b itself."""


class ColumnParallel:
    def __init__(self, comm, w, b):
        self.comm, self.w, self.b = (comm, w, b)

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, dy):
        self.dw, self.db = self.x.T @ dy, self.b
        self.db[:] = dy.sum(axis=0)
        return all_reduce(self.comm, dy @ self.w.T)
