"""Fails predictions-check: gives the logarithm of a ratio, which may be negative."""


def predictions():
    return {"slow loop": 1.0, "narrow": -0.5, "wide": 2.0}
