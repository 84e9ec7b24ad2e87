"""Fails train-epoch-check: moves the images once for the loss, and once more to look at the accuracy."""


def train_epoch(model, optimizer, batches, device):
    total, hits, seen = *torch.zeros(2, device=device), 0
    for pair in batches:
        images, labels = pair[0].to(device), pair[1].to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (model(pair[0].to(device)).argmax(1) == labels).sum()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return total / seen
