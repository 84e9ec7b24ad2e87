"""Fails even-cuts-check: puts the shorter segments first."""


def even_cuts(n):
    k = min(range(1, n + 1), key=lambda k: k - 1 + n // k)
    lengths = [n // k + (number >= k - n % k) for number in range(k)]
    return list(itertools.accumulate(lengths))
