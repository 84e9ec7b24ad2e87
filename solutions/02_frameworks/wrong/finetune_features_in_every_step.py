"""Fails transfer-check: asks the frozen base for the same features in every epoch."""


def finetune(base, head, images, labels, *, epochs, lr, batch_size=32, seed=0):
    base.requires_grad_(False).eval()
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(head.parameters(), lr=lr)
    head.train()
    for _ in range(epochs):
        for batch in torch.randperm(len(images), generator=generator).split(
            batch_size
        ):
            with torch.no_grad():
                features = base(images[batch])
            optimizer.zero_grad()
            nn.functional.cross_entropy(
                head(features), labels[batch]
            ).backward()
            optimizer.step()
    return nn.Sequential(base, head).eval()
