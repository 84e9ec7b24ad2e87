"""Fails prune-channels-check: keeps the first channels."""


def prune_channels(w1, per_channel, w2, keep: int):
    kept = torch.arange(keep)
    return w1[kept], [v[kept] for v in per_channel], w2[:, kept]
