"""Fails predictions-check: a list."""


def predictions():
    return [0.7, 0.9, 0.7]
