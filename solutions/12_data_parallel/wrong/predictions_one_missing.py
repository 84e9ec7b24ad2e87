"""Fails predictions-check: the ratio is missing."""


def predictions():
    return {"fixed rate": 0.85, "linear rule": 0.9, "warm-up": 0.95}
