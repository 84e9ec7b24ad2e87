"""Fails even-cuts-check: returns n as a float."""


def even_cuts(n):
    k = min(range(1, n + 1), key=lambda k: k - 1 + n // k)
    lengths = [n // k + (number < n % k) for number in range(k)]
    return [float(end) for end in itertools.accumulate(lengths)]
