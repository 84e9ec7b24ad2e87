"""Fails train-epoch-check: reads the loss of every batch, and waits for it."""


def train_epoch(model, optimizer, batches, device):
    total, seen = torch.zeros((), device=device), 0
    for pair in batches:
        images, labels = pair[0].to(device), pair[1].to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        seen += len(labels)
    return total / seen
