"""Fails train-epoch-check: adds up in float64, which not every device has."""


def train_epoch(model, optimizer, batches, device):
    total, seen = torch.zeros((), device=device, dtype=torch.float64), 0
    for images, labels in batches:
        loss = nn.functional.cross_entropy(
            model(images.to(device)), labels.to(device)
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return total / seen
