"""Fails predictions-check: words."""


def predictions():
    return {"top": "about 1000", "bits": "2500", "fill": "half"}
