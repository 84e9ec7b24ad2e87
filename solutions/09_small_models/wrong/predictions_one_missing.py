"""Fails predictions-check: one of the three is missing."""


def predictions() -> dict[str, float]:
    return {"smaller": 4.0, "bits": 6}
