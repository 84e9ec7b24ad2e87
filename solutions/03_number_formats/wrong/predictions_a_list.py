"""Fails predictions-check: a list, not a dictionary."""


def predictions():
    return [65_000, 4.0, 100.0]
