"""Fails ensemble-check: does not divide."""


def combine(parts):
    return sum(m * p for m, p in parts)
