"""Fails row-parallel-check: adds b on rank 0 after the sum: the others lack it."""


class RowParallel:
    def __init__(self, comm, w, b):
        self.comm, self.w, self.b = (comm, w, b)

    def forward(self, x):
        self.x = x
        return all_reduce(self.comm, x @ self.w) + self.b * (
            self.comm.rank == 0
        )

    def backward(self, dy):
        self.dw, self.db = (self.x.T @ dy, dy.sum(axis=0))
        return dy @ self.w.T
