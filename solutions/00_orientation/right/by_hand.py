"""Quartiles by hand, without NumPy, and a tuple of Python floats."""

import statistics


def median_and_iqr(samples):
    ordered = sorted(map(float, samples))
    if not ordered:
        raise ValueError("give me at least one sample")

    def quantile(q):
        place = q * (len(ordered) - 1)
        below = int(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (
            ordered[above] - ordered[below]
        )

    return statistics.median(ordered), quantile(0.75) - quantile(0.25)
