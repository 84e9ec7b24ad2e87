"""Fails predictions-check: a text is no number."""


def predictions():
    return {"slow loop": "10 x", "narrow": "2 x", "wide": "100 x"}
