"""Fails predictions-check: one of the three numbers is missing."""


def predictions():
    return {"together": 5.0, "stale": 15.0}
