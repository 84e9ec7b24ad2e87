"""Fails fast-training-check: reads the loss in every step."""


def fast_training(
    model,
    optimizer,
    images,
    labels,
    device,
    *,
    epochs,
    batch_size,
    seed=0,
    prepare=prepare_images,
    capture=capture_model,
):
    generator = torch.Generator().manual_seed(seed)
    history = {"loss": [], "accuracy": []}
    x, y, network = (
        prepare(images).to(device),
        labels.to(device),
        capture(model),
    )
    for _ in range(epochs):
        total = torch.zeros((), device=device)
        order = torch.randperm(len(images), generator=generator).to(device)
        for batch in order.split(batch_size):
            loss = nn.functional.cross_entropy(network(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        with torch.no_grad():
            right = network(x).argmax(dim=1) == y
        history["loss"].append(total.item() / len(images))
        history["accuracy"].append(right.float().mean().item())
    return history
