"""Fails transfer-check: freezes the weights and hands the whole model to train, which puts BatchNorm into training mode."""


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    base.requires_grad_(False)
    model = nn.Sequential(base, head)
    train(
        model,
        images,
        labels,
        epochs=epochs,
        lr=lr,
        batch_size=batch_size,
        seed=seed,
    )
    return nn.Sequential(base, head).eval()
