"""Fails predictions-check: one prediction is missing."""


def predictions():
    return {
        "compiled, 1,000,000 numbers": 0.3,
        "from scratch": 0.5,
        "frozen base": 0.8,
    }
