"""Earns nothing of mlp-check, fails regularisers-check, fit-check: all is 0, and so is what a mask of 1e-30 lets through."""


def dropout(x, p, rng):
    mask = np.where(rng.random(x.shape) >= p, 1e-30, 0.0)
    return x * mask, mask


class Layer:
    pass


class MLP:
    def __init__(self, sizes, *, activation="relu", p=0.0, l2=0.0, seed=0):
        self.sizes = sizes
        self.layers = [Layer() for _ in sizes[1:]]

    def forward(self, x, training=False):
        return np.zeros((len(x), self.sizes[-1]))

    def backward(self, dlogits):
        for layer in self.layers:
            layer.dw = 0 * layer.w
            layer.db = np.zeros(layer.w.shape[1])

    def loss_and_gradients(self, x, labels, training=True):
        return 0.0
