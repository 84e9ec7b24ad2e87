"""Fails predictions-check: a list instead of a dictionary."""


def predictions():
    return [0.5, 30.0, 2.0]
