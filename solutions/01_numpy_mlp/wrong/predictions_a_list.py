"""Fails predictions-check: a list has no names."""


def predictions():
    return [0.1, 0.5, 0.8]
