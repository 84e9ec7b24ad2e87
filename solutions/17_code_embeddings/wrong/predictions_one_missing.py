"""Fails predictions-check: one is missing."""


def predictions():
    return {"bag": 0.7, "graph": 0.9}
