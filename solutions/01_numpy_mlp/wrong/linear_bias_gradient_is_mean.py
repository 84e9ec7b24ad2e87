"""Fails linear-check: averages the bias gradient, although the loss has averaged already."""


class Linear:
    def backward(self, dy):
        self.dw = self.x.T @ dy
        self.db = dy.mean(axis=0)
        return dy @ self.w.T
