"""Fails mlp-check: drops activations outside training too, so that predictions are random."""


class MLP:
    def forward(self, x, training=False):
        self.slopes, self.masks = [], []
        for layer in self.layers[:-1]:
            x, slope = activate(self.activation, layer.forward(x))
            x, mask = dropout(x, self.p, self.rng)
            self.slopes.append(slope)
            self.masks.append(mask)
        return self.layers[-1].forward(x)
