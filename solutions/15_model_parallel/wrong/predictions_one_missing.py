"""Fails predictions-check: one of the three is missing."""


def predictions():
    return {"halo": 64.0, "idle": 0.25}
