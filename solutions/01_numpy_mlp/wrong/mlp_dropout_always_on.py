"""Fails mlp-check: drops activations outside training too, so that predictions are random."""


class MLP:
    def __init__(self, sizes, *, activation="relu", p=0.0, l2=0.0, seed=0):
        self.rng = np.random.default_rng(seed)
        self.layers = [Linear(n_in, n_out, self.rng) for n_in, n_out in zip(sizes[:-1], sizes[1:])]
        self.activation, self.p, self.l2 = activation, p, l2

    def forward(self, x, training=False):
        self.slopes, self.masks = [], []
        for layer in self.layers[:-1]:
            x, slope = activate(self.activation, layer.forward(x))
            x, mask = dropout(x, self.p, self.rng)
            self.slopes.append(slope)
            self.masks.append(mask)
        return self.layers[-1].forward(x)

    def backward(self, dlogits):
        dx = self.layers[-1].backward(dlogits)
        for layer, slope, mask in zip(self.layers[-2::-1], self.slopes[::-1], self.masks[::-1]):
            dx = layer.backward(dx * mask * slope)
        for layer, penalty in zip(
            self.layers, l2_penalty([layer.w for layer in self.layers], self.l2)[1]
        ):
            layer.dw = layer.dw + penalty

    def loss_and_gradients(self, x, labels, training=True):
        loss, dlogits = softmax_cross_entropy(self.forward(x, training), labels)
        self.backward(dlogits)
        return loss + l2_penalty([layer.w for layer in self.layers], self.l2)[0]
