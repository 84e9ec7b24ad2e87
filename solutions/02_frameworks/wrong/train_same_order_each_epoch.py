"""Fails transfer-check: starts the generator again in every epoch."""


def train(model, images, labels, *, epochs, lr, batch_size=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(
        [p for p in model.parameters() if p.requires_grad], lr=lr
    )
    model.train()
    history = []
    for _ in range(epochs):
        losses = []
        generator.manual_seed(seed)
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
