"""Fails drop-channels-check: the sum of squares, which one large entry decides."""


def drop_channels(w, bias, after, keep):
    sums = (w**2).reshape(len(w), -1).sum(axis=1)
    kept = np.sort(np.argsort(sums)[len(w) - keep :])
    readers = after.reshape(len(after), len(w), -1)[:, kept]
    shape = (-1,) if after.ndim == 2 else (keep, *after.shape[2:])
    return w[kept], bias[kept], readers.reshape(len(after), *shape)
