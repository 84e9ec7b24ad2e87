"""Fails predictions-check: a prediction is nan."""


def predictions() -> dict[str, float]:
    """Return two ratios and a share of at most 1, each above 0."""
    return {"halo": 96.0, "idle": float("nan"), "sharded": 1.5}
