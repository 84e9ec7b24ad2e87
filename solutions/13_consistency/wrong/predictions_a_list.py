"""Fails predictions-check: a list has no names."""


def predictions():
    return [5.0, 12.0, 15.0]
