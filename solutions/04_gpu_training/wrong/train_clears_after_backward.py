"""Fails train-epoch-check: clears the gradients between backward and step."""


def train_epoch(model, optimizer, batches, device):
    total, seen = torch.zeros((), device=device), 0
    for pair in batches:
        images, labels = pair[0].to(device), pair[1].to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return total / seen
