"""Fails predictions-check: a text, not a number."""


def predictions():
    return {"together": "five", "without_two": "twelve", "stale": "many"}
