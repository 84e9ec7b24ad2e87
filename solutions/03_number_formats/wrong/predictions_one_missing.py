"""Fails predictions-check: one of the three is missing."""


def predictions():
    return {"finite": 65_000, "int8": 4.0}
