"""Fails predictions-check: the ratio is a difference in percent, and negative."""


def predictions():
    return {
        "two ranks": -20,
        "fixed rate": 0.85,
        "linear rule": 0.9,
        "warm-up": 0.95,
    }
