"""Fails predictions-check: draws new accuracies at every call: nothing is committed to."""

import random


def predictions() -> dict[str, float]:
    """Return three accuracies, each above 0 and at most 1."""
    return {name: random.uniform(0.5, 1.0) for name in ("bag", "graph", "rows")}
