"""Fails staleness-check: a range has no infinite end."""


def within(worker, clocks, slack):
    return clocks[worker] - min(clocks) in range(int(slack) + 1)
