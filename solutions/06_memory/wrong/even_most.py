"""Fails even-cuts-check: takes the largest k."""


def even_cuts(n):
    k = min(range(n, 0, -1), key=lambda k: k - 1 + n // k)
    lengths = [n // k + (number < n % k) for number in range(k)]
    return list(itertools.accumulate(lengths))
