"""Fails transfer-check: clears gradients after each step, so that the first one adds to what was there before."""


def train(model, images, labels, *, epochs, lr, batch_size=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(
        [p for p in model.parameters() if p.requires_grad], lr=lr
    )
    model.train()
    history = []
    for _ in range(epochs):
        losses = []
        for batch in torch.randperm(len(images), generator=generator).split(
            batch_size
        ):
            loss = nn.functional.cross_entropy(
                model(images[batch]), labels[batch]
            )
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        history.append(sum(losses) / len(losses))
    return history
