"""Fails predictions-check: a speed of zero."""


def predictions() -> dict[str, float]:
    return {"smaller": 4.0, "bits": 6, "faster": 0.0}
