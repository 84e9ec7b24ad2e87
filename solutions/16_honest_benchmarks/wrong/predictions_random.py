"""Fails predictions-check: draws other numbers at each call, so nothing is committed to."""

import random


def predictions() -> dict[str, float]:
    return {
        "untuned": random.uniform(1, 10),
        "tuned": random.uniform(1, 3),
        "cards": random.uniform(0.01, 1),
    }
