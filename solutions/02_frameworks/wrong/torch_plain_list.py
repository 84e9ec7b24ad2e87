"""Fails torch-network-check: a Python list hides the layers from PyTorch."""


class TorchNetwork(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.layers = []
        for w, b in weights:
            layer = nn.Linear(*w.shape)
            layer.weight.data = torch.tensor(w.T, dtype=torch.float32)
            layer.bias.data = torch.tensor(b, dtype=torch.float32)
            self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)
