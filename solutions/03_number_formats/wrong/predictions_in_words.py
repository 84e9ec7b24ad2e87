"""Fails predictions-check: words, not numbers."""


def predictions():
    return {"finite": "most", "int8": "four times", "outlier": "a lot"}
