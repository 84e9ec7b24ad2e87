"""Fails even-cuts-check: leaves the rest to the last segment."""


def even_cuts(n):
    k = min(range(1, n + 1), key=lambda k: k - 1 + n // k)
    lengths = [n // k] * (k - 1) + [n - n // k * (k - 1)]
    return list(itertools.accumulate(lengths))
