"""Fails mlp-check, fit-check: goes forward as it should, but the loss is 0 and so are the gradients."""


class MLP:
    def backward(self, dlogits):
        for layer in self.layers:
            layer.dw, layer.db = np.zeros_like(layer.w), np.zeros_like(layer.b)

    def loss_and_gradients(self, x, labels, training=True):
        self.forward(x, training)
        self.backward(None)
        return 0.0
