"""Fails row-parallel-check: adds b over P before the sum, which is rounded, and float64 for integers."""


class RowParallel:
    def __init__(self, comm, w, b):
        self.comm, self.w, self.b = (comm, w, b)

    def forward(self, x):
        self.x = x
        return all_reduce(self.comm, x @ self.w + self.b / self.comm.size)

    def backward(self, dy):
        self.dw, self.db = (self.x.T @ dy, dy.sum(axis=0))
        return dy @ self.w.T
