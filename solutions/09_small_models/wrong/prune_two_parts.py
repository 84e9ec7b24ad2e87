"""Fails prune-channels-check: takes per_channel for a scale and a shift."""


def prune_channels(w1, per_channel, w2, keep: int):
    size = w1.abs().flatten(1).sum(dim=1)
    kept = torch.sort(torch.argsort(size)[len(size) - keep :]).values
    parts = [part[kept] for part in per_channel[:2]]
    return w1[kept], parts, w2[:, kept]
