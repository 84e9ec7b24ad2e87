"""Earns nothing of mlp-check, fails fit-check: it shows its layers while they are given weights, and none afterwards."""


class MLP:
    def __init__(self, sizes, *, activation="relu", p=0.0, l2=0.0, seed=0):
        pairs = zip(sizes[:-1], sizes[1:], strict=True)
        self.own = [
            Linear(n_in, n_out, np.random.default_rng(seed))
            for n_in, n_out in pairs
        ]
        self.looked = 0

    @property
    def layers(self):
        self.looked += 1
        return self.own if self.looked == 1 else []

    def forward(self, x, training=False):
        return None

    def backward(self, dlogits):
        return None

    def loss_and_gradients(self, x, labels, training=True):
        return 0.0
