"""Fails predictions-check: a list, not a dictionary."""


def predictions():
    return [64.0, 0.25, 2.0]
