"""Fails predictions-check: gives percentages and not shares."""


def predictions():
    return {
        "compiled, 1,000 numbers": 0.5,
        "compiled, 1,000,000 numbers": 0.3,
        "from scratch": 50,
        "frozen base": 80,
    }
