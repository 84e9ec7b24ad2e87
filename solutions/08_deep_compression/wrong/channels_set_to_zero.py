"""Fails drop-channels-check: sets what goes to 0 and keeps the shapes."""


def drop_channels(w, bias, after, keep):
    sums = np.abs(w).reshape(len(w), -1).sum(axis=1)
    stays = np.zeros(len(w), bool)
    stays[np.argsort(sums)[len(w) - keep :]] = True
    readers = after.reshape(len(after), len(w), -1) * stays[None, :, None]
    left = w * stays.reshape(-1, *[1] * (w.ndim - 1))
    return left, bias * stays, readers.reshape(after.shape)
