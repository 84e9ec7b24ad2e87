"""Fails row-parallel-check: adds to b itself."""


class RowParallel:
    def __init__(self, comm, w, b):
        self.comm, self.w, self.b = (comm, w, b)

    def forward(self, x):
        self.x = x
        self.b += 1
        return all_reduce(self.comm, x @ self.w) + self.b - 1

    def backward(self, dy):
        self.dw, self.db = (self.x.T @ dy, dy.sum(axis=0))
        return dy @ self.w.T
