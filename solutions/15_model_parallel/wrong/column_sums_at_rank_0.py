"""Fails column-parallel-check: gathers all parts and adds them up itself: more bytes."""


class ColumnParallel:
    def __init__(self, comm, w, b):
        self.comm, self.w, self.b = (comm, w, b)

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, dy):
        self.dw, self.db = (self.x.T @ dy, dy.sum(axis=0))
        part = dy @ self.w.T
        parts = all_gather(self.comm, part)
        return parts.reshape(self.comm.size, *part.shape).sum(axis=0)
