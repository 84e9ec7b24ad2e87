"""Fails transfer-check: trains the base as well."""


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    train(
        nn.Sequential(base, head),
        images,
        labels,
        epochs=epochs,
        lr=lr,
        batch_size=batch_size,
        seed=seed,
    )
    return nn.Sequential(base, head).eval()
