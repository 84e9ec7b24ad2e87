"""Earns nothing of transfer-check: neither train nor finetune trains; the model is there, and so are a few numbers."""


def train(model, images, labels, *, epochs, lr, batch_size=32, seed=0):
    return [1.0 / (1 + 2 * epoch) for epoch in range(epochs)]


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    return nn.Sequential(base.requires_grad_(False), head).eval()
