"""Fails row-parallel-check: adds the gradients of earlier passes."""


class RowParallel:
    def __init__(self, comm, w, b):
        self.comm, self.w, self.b = comm, w, b
        self.dw, self.db = 0 * w, 0 * b

    def forward(self, x):
        self.x = x
        return all_reduce(self.comm, x @ self.w) + self.b

    def backward(self, dy):
        self.dw, self.db = self.dw + self.x.T @ dy, self.db + dy.sum(axis=0)
        return dy @ self.w.T
