"""Fails transfer-check: returns a model of copies, which later training of the head does not reach."""

import copy


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    base.requires_grad_(False).eval()
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
    head.eval()
    return nn.Sequential(copy.deepcopy(base), copy.deepcopy(head)).eval()
