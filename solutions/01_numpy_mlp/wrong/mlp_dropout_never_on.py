"""Fails mlp-check: dropout is never switched on."""


class MLP:
    def forward(self, x, training=False):
        self.slopes, self.masks = [], []
        for layer in self.layers[:-1]:
            x, slope = activate(self.activation, layer.forward(x))
            x, mask = dropout(x, 0.0, self.rng)
            self.slopes.append(slope)
            self.masks.append(mask)
        return self.layers[-1].forward(x)
