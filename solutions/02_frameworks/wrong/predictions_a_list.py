"""Fails predictions-check: a list has no names."""


def predictions():
    return [0.5, 0.3, 0.5, 0.8]
