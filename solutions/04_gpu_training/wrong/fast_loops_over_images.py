"""Fails fast-training-check: computes the loss image by image."""


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
            logits, wanted = network(x[batch]), y[batch]
            each = [
                nn.functional.cross_entropy(logits[i], wanted[i])
                for i in range(len(batch))
            ]
            loss = torch.stack(each).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(batch)
        with torch.no_grad():
            right = network(x).argmax(dim=1) == y
        history["loss"].append(total.item() / len(images))
        history["accuracy"].append(right.float().mean().item())
    return history
