"""Fails mlp-check: adds the L2 gradient to the biases too."""


class MLP:
    def backward(self, dlogits):
        dx = self.layers[-1].backward(dlogits)
        for layer, slope, mask in zip(
            self.layers[-2::-1], self.slopes[::-1], self.masks[::-1]
        ):
            dx = layer.backward(dx * mask * slope)
        for layer in self.layers:
            layer.dw = layer.dw + self.l2 * layer.w
            layer.db = layer.db + self.l2 * layer.b
