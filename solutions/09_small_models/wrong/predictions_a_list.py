"""Fails predictions-check: a list has no keys."""


def predictions() -> dict[str, float]:
    return [4.0, 6, 3.0]
