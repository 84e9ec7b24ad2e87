"""Fails train-epoch-check: returns the loss of the last batch."""


def train_epoch(model, optimizer, batches, device):
    total, seen = torch.zeros((), device=device), 0
    for pair in batches:
        images, labels = pair[0].to(device), pair[1].to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return loss.detach()
