"""Fails predictions-check: returns a list."""


def predictions():
    return [3.0, 9, 2.0]
