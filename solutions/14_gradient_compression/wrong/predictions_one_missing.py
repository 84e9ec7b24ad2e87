"""Fails predictions-check: one is missing."""


def predictions():
    return {"top": 1000, "bits": 2500}
