"""Fails predictions-check: a list, not a dictionary."""


def predictions():
    return [3.0, 1.5, 0.2]
