"""Fails predictions-check: a list has no names."""


def predictions():
    return [0.5, 32, 4]
