"""Fails torch-network-check: keeps the weights in float64 and turns the input into it."""


class TorchNetwork(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.layers = nn.ModuleList()
        for w, b in weights:
            layer = nn.Linear(*w.shape)
            layer.weight.data = torch.tensor(w.T, dtype=torch.float64)
            layer.bias.data = torch.tensor(b, dtype=torch.float64)
            self.layers.append(layer)

    def forward(self, x):
        x = x.double()
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)
