"""Fails predictions-check: a share in percent."""


def predictions():
    return {"top": 1000, "bits": 2500, "fill": 47}
