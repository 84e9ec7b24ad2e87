"""Fails prune-channels-check: adds weights with their signs."""


def prune_channels(w1, per_channel, w2, keep: int):
    size = w1.flatten(1).sum(dim=1)
    kept = torch.sort(torch.argsort(size)[len(size) - keep :]).values
    return w1[kept], [v[kept] for v in per_channel], w2[:, kept]
