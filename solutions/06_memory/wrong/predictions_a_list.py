"""Fails predictions-check: returns a list."""


def predictions():
    return [2.0, 100.0, 16.0]
