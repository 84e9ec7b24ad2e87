"""Fails predictions-check: one prediction is missing."""


def predictions():
    return {"slow loop": 10.0, "narrow": 2.0}
