"""Fails linear-check: averages the bias gradient, although the loss has averaged already."""


class Linear:
    def __init__(self, n_in, n_out, rng):
        self.w = rng.normal(0.0, np.sqrt(2.0 / n_in), size=(n_in, n_out))
        self.b = np.zeros(n_out)

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, dy):
        self.dw = self.x.T @ dy
        self.db = dy.mean(axis=0)
        return dy @ self.w.T
