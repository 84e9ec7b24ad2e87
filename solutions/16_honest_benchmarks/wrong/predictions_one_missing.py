"""Fails predictions-check: one number is missing."""


def predictions():
    return {"untuned": 3.0, "cards": 0.2}
