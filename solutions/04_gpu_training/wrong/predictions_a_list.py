"""Fails predictions-check: a list has no names."""


def predictions():
    return [10.0, 2.0, 100.0]
