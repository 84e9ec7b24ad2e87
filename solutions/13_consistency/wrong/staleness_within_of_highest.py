"""Fails staleness-check: compares with the highest clock."""


def within(worker, clocks, slack):
    return max(clocks) - clocks[worker] <= slack
