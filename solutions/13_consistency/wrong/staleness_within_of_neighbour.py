"""Fails staleness-check: compares with the next worker only."""


def within(worker, clocks, slack):
    return clocks[worker] - clocks[worker - 1] <= slack
