"""Fails train-epoch-check: makes an optimiser in each epoch, which knows neither the rate nor earlier steps."""


def train_epoch(model, optimizer, batches, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    total, seen = torch.zeros((), device=device), 0
    optimizer.zero_grad()
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
