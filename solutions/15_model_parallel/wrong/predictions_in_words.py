"""Fails predictions-check: words, not numbers."""


def predictions():
    return {"halo": "many", "idle": "a quarter", "sharded": "twice"}
