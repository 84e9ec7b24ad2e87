"""Fails predictions-check: words instead of numbers."""


def predictions():
    return {"efficiency": "most", "epochs": "9 times", "optimism": "some"}
