"""Fails drop-channels-check: everything comes back in float64."""


def drop_channels(w, bias, after, keep):
    w, bias, after = (np.asarray(a, np.float64) for a in (w, bias, after))
    sums = np.abs(w).reshape(len(w), -1).sum(axis=1)
    kept = np.sort(np.argsort(sums)[len(w) - keep :])
    readers = after.reshape(len(after), len(w), -1)[:, kept]
    shape = (-1,) if after.ndim == 2 else (keep, *after.shape[2:])
    return w[kept], bias[kept], readers.reshape(len(after), *shape)
