"""Fails predictions-check: words."""


def predictions():
    return {"bag": "low", "graph": "high", "rows": "low"}
