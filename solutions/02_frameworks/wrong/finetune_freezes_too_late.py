"""Fails transfer-check: freezes only while it computes the features, and unfreezes after."""


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    base.requires_grad_(False)
    base.eval()
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
    base.requires_grad_(True)
    return nn.Sequential(base, head).eval()
