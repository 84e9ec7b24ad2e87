"""Fails train-epoch-check: adds the losses up in a tensor on the CPU, which a GPU refuses."""


def train_epoch(model, optimizer, batches, device):
    total, seen = torch.zeros(()), 0
    for pair in batches:
        images, labels = pair[0].to(device), pair[1].to(device)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(labels)
        seen += len(labels)
    return total / seen
