"""Fails predictions-check: percent."""


def predictions():
    return {"bag": 70, "graph": 90, "rows": 75}
