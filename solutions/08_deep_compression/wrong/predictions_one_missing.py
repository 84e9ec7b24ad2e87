"""Fails predictions-check: one key is missing."""


def predictions():
    return {"pruned": 0.5, "file": 30.0}
