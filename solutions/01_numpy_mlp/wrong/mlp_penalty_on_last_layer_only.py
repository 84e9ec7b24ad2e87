"""Fails mlp-check: only the output layer feels the penalty."""


class MLP:
    def backward(self, dlogits):
        dx = self.layers[-1].backward(dlogits)
        for layer, slope, mask in zip(
            self.layers[-2::-1], self.slopes[::-1], self.masks[::-1]
        ):
            dx = layer.backward(dx * mask * slope)
        last = self.layers[-1]
        last.dw = last.dw + l2_penalty([last.w], self.l2)[1][0]
