"""Earns nothing of linear-check, mlp-check, fails fit-check: its weights and gradients are 0, and it returns b."""


class Linear:
    def __init__(self, n_in, n_out, rng):
        rng.normal(size=(n_in, n_out))
        self.w, self.b = np.zeros((n_in, n_out)), np.zeros(n_out)

    def forward(self, x):
        return np.zeros((len(x), len(self.b))) + self.b

    def backward(self, dy):
        self.dw, self.db = np.zeros_like(self.w), np.zeros_like(self.b)
        return np.zeros((len(dy), len(self.w)))
