"""Fails drop-channels-check: takes every n-th column of after, as if the channels lay side by side."""


def drop_channels(w, bias, after, keep):
    sums = np.abs(w).reshape(len(w), -1).sum(axis=1)
    kept = np.sort(np.argsort(sums)[len(w) - keep :])
    if after.ndim == 2:
        readers = after.reshape(len(after), -1, len(w))[:, :, kept]
        return w[kept], bias[kept], readers.reshape(len(after), -1)
    return w[kept], bias[kept], after[:, kept]
