"""Fails prune-channels-check: sets channels to 0 and keeps their place."""


def prune_channels(w1, per_channel, w2, keep: int):
    size = w1.abs().flatten(1).sum(dim=1)
    kept = torch.sort(torch.argsort(size)[len(size) - keep :]).values
    mask = torch.zeros(len(size))
    mask[kept] = 1.0
    return w1 * mask[:, None, None, None], [v * mask for v in per_channel], w2
