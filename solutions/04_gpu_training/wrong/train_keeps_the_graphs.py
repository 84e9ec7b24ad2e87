"""Fails train-epoch-check: adds losses with their graphs, so that no batch is ever freed."""


def train_epoch(model, optimizer, batches, device):
    total, seen = torch.zeros((), device=device), 0
    for pair in batches:
        images, labels = pair[0].to(device), pair[1].to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = total + loss * len(labels)
        seen += len(labels)
    return total / seen
