"""Fails mlp-check: a new generator each time drops the same units at every step."""


class MLP:
    def forward(self, x, training=False):
        self.slopes, self.masks = [], []
        for layer in self.layers[:-1]:
            x, slope = activate(self.activation, layer.forward(x))
            x, mask = (
                dropout(x, self.p, np.random.default_rng(0))
                if training
                else (x, np.ones_like(x))
            )
            self.slopes.append(slope)
            self.masks.append(mask)
        return self.layers[-1].forward(x)
