"""Fails prune-channels-check: returns channels in the order of their size."""


def prune_channels(w1, per_channel, w2, keep: int):
    size = w1.abs().flatten(1).sum(dim=1)
    kept = torch.argsort(size)[len(size) - keep :]
    return w1[kept], [v[kept] for v in per_channel], w2[:, kept]
