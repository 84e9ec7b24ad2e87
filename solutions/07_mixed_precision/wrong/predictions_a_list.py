"""Fails predictions-check: a list where a dictionary is asked for."""


def predictions():
    return [0.6, 0.5, 0.4]
