"""Fails row-parallel-check: divides db by the number of ranks."""


class RowParallel:
    def __init__(self, comm, w, b):
        self.comm, self.w, self.b = (comm, w, b)

    def forward(self, x):
        self.x = x
        return all_reduce(self.comm, x @ self.w) + self.b

    def backward(self, dy):
        self.dw, self.db = (self.x.T @ dy, dy.sum(axis=0) / self.comm.size)
        return dy @ self.w.T
