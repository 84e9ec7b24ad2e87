"""Fails mlp-check: drops what enters the activation, not what leaves it."""


class MLP:
    def forward(self, x, training=False):
        self.slopes, self.masks = [], []
        for layer in self.layers[:-1]:
            x = layer.forward(x)
            x, mask = (
                dropout(x, self.p, self.rng)
                if training
                else (x, np.ones_like(x))
            )
            x, slope = activate(self.activation, x)
            self.slopes.append(slope)
            self.masks.append(mask)
        return self.layers[-1].forward(x)
