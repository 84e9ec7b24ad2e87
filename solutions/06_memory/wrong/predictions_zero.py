"""Fails predictions-check: a number is 0."""


def predictions():
    return {"kept": 2.0, "resnet": 100.0, "peak": 0}
