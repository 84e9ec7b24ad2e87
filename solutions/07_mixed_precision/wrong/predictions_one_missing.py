"""Fails predictions-check: one of the three is missing."""


def predictions():
    return {"updates lost": 0.6, "gradients lost": 0.5}
