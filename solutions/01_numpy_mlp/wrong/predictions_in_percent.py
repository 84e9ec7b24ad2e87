"""Fails predictions-check: gives percentages and not shares."""


def predictions():
    return {"zero weights": 10, "ten times the rate": 50, "wrong labels": 80}
