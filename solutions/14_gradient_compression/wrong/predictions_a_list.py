"""Fails predictions-check: a list."""


def predictions():
    return [500, 2500, 0.5]
