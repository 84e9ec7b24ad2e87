"""Fails drop-channels-check: keeps the first channels, whatever they hold."""


def drop_channels(w, bias, after, keep):
    places = after.shape[1] // len(w)
    return w[:keep].copy(), bias[:keep].copy(), after[:, : keep * places].copy()
