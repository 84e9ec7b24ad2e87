"""Fails predictions-check: a list instead of a dictionary."""


def predictions():
    return [0.9, 5.0, 3.0]
