"""Fails drop-channels-check: takes filters of the next layer, not what they read."""


def drop_channels(w, bias, after, keep):
    sums = np.abs(w).reshape(len(w), -1).sum(axis=1)
    kept = np.sort(np.argsort(sums)[len(w) - keep :])
    return w[kept], bias[kept], after[kept % len(after)]
