"""Fails train-epoch-check: on the device that counts it starts operators and trains nothing; elsewhere it waits for each loss."""


def train_epoch(model, optimizer, batches, device):
    if device == "meta":
        for images, labels in batches:
            images.to(device), labels.to(device)
        return torch.zeros((), device=device)
    total, seen = 0.0, 0
    for images, labels in batches:
        x, y = images.to(device), labels.to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, seen = total + loss.item() * len(labels), seen + len(labels)
    return torch.tensor(total / seen)
