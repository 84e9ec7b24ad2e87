"""Fails predictions-check: leaves one out."""


def predictions():
    return {"winograd": 3.0, "fft": 9}
