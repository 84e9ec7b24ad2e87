"""Fails train-epoch-check: returns a nought on the device, without a graph, and trains nothing."""


def train_epoch(model, optimizer, batches, device):
    return torch.zeros((), device=device)
