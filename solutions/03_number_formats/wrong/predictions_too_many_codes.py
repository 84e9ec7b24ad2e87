"""Fails predictions-check: more codes than there are."""


def predictions():
    return {"finite": 2**17, "int8": 4.0, "outlier": 100.0}
