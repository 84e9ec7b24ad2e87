"""Fails mlp-check: the way back ignores which activations were dropped."""


class MLP:
    def backward(self, dlogits):
        dx = self.layers[-1].backward(dlogits)
        for layer, slope, mask in zip(
            self.layers[-2::-1], self.slopes[::-1], self.masks[::-1]
        ):
            dx = layer.backward(dx * slope)
        for layer, penalty in zip(
            self.layers,
            l2_penalty([layer.w for layer in self.layers], self.l2)[1],
        ):
            layer.dw = layer.dw + penalty
