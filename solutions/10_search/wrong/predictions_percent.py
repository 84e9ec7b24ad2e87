"""Fails predictions-check: a share in per cent."""


def predictions():
    return {"efficiency": 90, "epochs": 5.0, "optimism": 3.0}
