"""Fails predictions-check: 0 is not above 0."""


def predictions():
    return {"together": 5.5, "without_two": 12.0, "stale": 0.0}
