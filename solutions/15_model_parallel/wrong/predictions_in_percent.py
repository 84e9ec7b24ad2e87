"""Fails predictions-check: a share in percent."""


def predictions():
    return {"halo": 64.0, "idle": 25.0, "sharded": 2.0}
