"""Fails transfer-check: uses plain gradient descent where Adam is asked for."""


def train(model, images, labels, *, epochs, lr, batch_size=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(
        [p for p in model.parameters() if p.requires_grad], lr=lr
    )
    model.train()
    history = []
    for _ in range(epochs):
        losses = []
        for batch in torch.randperm(len(images), generator=generator).split(
            batch_size
        ):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(
                model(images[batch]), labels[batch]
            )
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        history.append(sum(losses) / len(losses))
    return history
