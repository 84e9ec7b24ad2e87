"""Fails predictions-check: a share of nothing, which nobody predicts of a bubble."""


def predictions():
    return {"halo": 64.0, "idle": 0.0, "sharded": 2.0}
