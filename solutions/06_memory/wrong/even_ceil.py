"""Fails even-cuts-check: counts the longest segment for the last."""


def even_cuts(n):
    k = min(range(1, n + 1), key=lambda k: k - 1 + -(-n // k))
    lengths = [n // k + (number < n % k) for number in range(k)]
    return list(itertools.accumulate(lengths))
