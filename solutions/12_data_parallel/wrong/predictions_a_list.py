"""Fails predictions-check: a list without names."""


def predictions():
    return [1.5, 0.85, 0.9, 0.95]
