"""Fails staleness-check: compares with the mean of the clocks."""


def within(worker, clocks, slack):
    return clocks[worker] - sum(clocks) / len(clocks) <= slack
