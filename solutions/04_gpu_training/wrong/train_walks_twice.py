"""Fails train-epoch-check: counts the images first, which uses a generator up."""


def train_epoch(model, optimizer, batches, device):
    total = torch.zeros((), device=device)
    seen = sum(len(labels) for _, labels in batches)
    for pair in batches:
        images, labels = pair[0].to(device), pair[1].to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(labels)
    return total / seen
