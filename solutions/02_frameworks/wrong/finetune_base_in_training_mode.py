"""Fails transfer-check: lets BatchNorm move its statistics: it normalises by the batch."""


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    base.requires_grad_(False)
    base.train()
    with torch.no_grad():
        features = base(images)
    train(
        head,
        features,
        labels,
        epochs=epochs,
        lr=lr,
        batch_size=batch_size,
        seed=seed,
    )
    return nn.Sequential(base, head).eval()
