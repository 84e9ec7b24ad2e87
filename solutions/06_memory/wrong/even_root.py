"""Fails even-cuts-check: takes the root of n."""


def even_cuts(n):
    k = round(n**0.5)
    lengths = [n // k + (number < n % k) for number in range(k)]
    return list(itertools.accumulate(lengths))
