"""Fails predictions-check: a ratio below zero."""


def predictions():
    return {"loopback": -2.0, "ring": 16, "server": 2}
