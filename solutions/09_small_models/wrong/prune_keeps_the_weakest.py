"""Fails prune-channels-check: keeps the weakest."""


def prune_channels(w1, per_channel, w2, keep: int):
    size = w1.abs().flatten(1).sum(dim=1)
    kept = torch.sort(torch.argsort(size)[:keep]).values
    return w1[kept], [v[kept] for v in per_channel], w2[:, kept]
