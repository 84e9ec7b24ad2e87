"""Fails predictions-check: a share in percent."""


def predictions():
    return {"untuned": 3.0, "tuned": 1.5, "cards": 20}
