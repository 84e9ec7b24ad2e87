"""Fails predictions-check: percent where shares are asked for."""


def predictions():
    return {"updates lost": 60, "gradients lost": 50, "all bfloat16": 0.4}
