"""Fails predictions-check: one key is missing."""


def predictions():
    return {"efficiency": 0.9, "epochs": 5.0}
