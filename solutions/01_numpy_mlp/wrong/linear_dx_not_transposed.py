"""Fails linear-check, mlp-check, fit-check: dx uses w where it needs its transpose."""


class Linear:
    def backward(self, dy):
        self.dw = self.x.T @ dy
        self.db = dy.sum(axis=0)
        return dy @ self.w
