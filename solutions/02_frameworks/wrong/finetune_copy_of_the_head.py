"""Fails transfer-check: trains a copy and leaves the head as it was."""


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    base.requires_grad_(False)
    base.eval()
    with torch.no_grad():
        features = base(images)
    head = type(head)(head.in_features, head.out_features)
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
