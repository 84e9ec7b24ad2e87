"""Fails predictions-check: a ratio of 0."""


def predictions():
    return {"pruned": 0.5, "file": 0, "speed": 2.0}
