"""Fails predictions-check: words, not numbers."""


def predictions():
    return {"untuned": "three times", "tuned": "hardly", "cards": "few"}
