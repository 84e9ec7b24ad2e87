"""Fails predictions-check: leaves one out."""


def predictions():
    return {"kept": 2.0, "resnet": 100.0}
