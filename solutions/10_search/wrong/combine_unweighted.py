"""Fails ensemble-check: takes the mean of means."""


def combine(parts):
    return np.mean([p for _, p in parts], axis=0)
