"""Fails predictions-check: gives what is saved as a negative ratio."""


def predictions():
    return {
        "compiled, 1,000 numbers": -0.1,
        "compiled, 1,000,000 numbers": -0.7,
        "from scratch": 0.5,
        "frozen base": 0.8,
    }
