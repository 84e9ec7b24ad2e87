"""Fails mlp-check: forward drops activations unless it is told not to."""


class MLP:
    def forward(self, x, training=True):
        self.slopes, self.masks = [], []
        for layer in self.layers[:-1]:
            x, slope = activate(self.activation, layer.forward(x))
            x, mask = (
                dropout(x, self.p, self.rng)
                if training
                else (x, np.ones_like(x))
            )
            self.slopes.append(slope)
            self.masks.append(mask)
        return self.layers[-1].forward(x)
