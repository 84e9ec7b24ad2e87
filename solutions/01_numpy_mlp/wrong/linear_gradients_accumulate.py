"""Fails linear-check, fit-check: adds to the gradients of the call before."""


class Linear:
    def __init__(self, n_in, n_out, rng):
        self.w = rng.normal(0.0, np.sqrt(2.0 / n_in), size=(n_in, n_out))
        self.b = np.zeros(n_out)
        self.dw, self.db = np.zeros_like(self.w), np.zeros_like(self.b)

    def backward(self, dy):
        self.dw = self.dw + self.x.T @ dy
        self.db = self.db + dy.sum(axis=0)
        return dy @ self.w.T
