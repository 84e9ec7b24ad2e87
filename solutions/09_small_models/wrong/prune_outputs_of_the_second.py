"""Fails prune-channels-check: cuts the second convolution's outputs."""


def prune_channels(w1, per_channel, w2, keep: int):
    size = w1.abs().flatten(1).sum(dim=1)
    kept = torch.sort(torch.argsort(size)[len(size) - keep :]).values
    return w1[kept], [v[kept] for v in per_channel], w2[kept]
