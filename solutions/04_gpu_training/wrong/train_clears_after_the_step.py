"""Fails train-epoch-check: gradients are cleared after the step, and old ones go into the first."""


def train_epoch(model, optimizer, batches, device):
    total, seen = torch.zeros((), device=device), 0
    for images, labels in batches:
        loss = nn.functional.cross_entropy(
            model(images.to(device)), labels.to(device)
        )
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return total / seen
