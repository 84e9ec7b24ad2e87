"""Fails predictions-check: a number in words."""


def predictions():
    return {"loopback": "faster", "ring": 16, "server": 2}
