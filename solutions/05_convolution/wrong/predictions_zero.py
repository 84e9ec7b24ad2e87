"""Fails predictions-check: predicts a ratio of 0."""


def predictions():
    return {"winograd": 3.0, "fft": 9, "microbatch": 0}
