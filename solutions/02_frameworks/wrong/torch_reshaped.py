"""Fails torch-network-check: reshapes the weights where they must be transposed."""


class TorchNetwork(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.layers = nn.ModuleList()
        for w, b in weights:
            layer = nn.Linear(*w.shape)
            layer.weight.data = torch.tensor(w, dtype=torch.float32).reshape(
                w.T.shape
            )
            layer.bias.data = torch.tensor(b, dtype=torch.float32)
            self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)
