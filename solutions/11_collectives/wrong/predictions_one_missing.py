"""Fails predictions-check: one prediction is missing."""


def predictions():
    return {"loopback": 2.0, "ring": 16}
