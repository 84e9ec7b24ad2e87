"""Fails ensemble-check: divides by the number of processes."""


def combine(parts):
    return sum(m * p for m, p in parts) / len(parts)
