"""Fails transfer-check: returns the head alone."""


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
    return head.eval()
