"""Fails drop-channels-check: the largest channel comes first."""


def drop_channels(w, bias, after, keep):
    sums = np.abs(w).reshape(len(w), -1).sum(axis=1)
    kept = np.argsort(-sums)[:keep]
    readers = after.reshape(len(after), len(w), -1)[:, kept]
    shape = (-1,) if after.ndim == 2 else (keep, *after.shape[2:])
    return w[kept], bias[kept], readers.reshape(len(after), *shape)
