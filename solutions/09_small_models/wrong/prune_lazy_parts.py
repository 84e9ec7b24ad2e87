"""Fails prune-channels-check: per_channel comes back as an iterator, read once and without a length."""


def prune_channels(w1, per_channel, w2, keep: int):
    size = w1.abs().flatten(1).sum(dim=1)
    kept = torch.sort(torch.argsort(size)[len(size) - keep :]).values
    return w1[kept], (part[kept] for part in per_channel), w2[:, kept]
