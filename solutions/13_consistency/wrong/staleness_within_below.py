"""Fails staleness-check: less than the slack, not at most."""


def within(worker, clocks, slack):
    return clocks[worker] - min(clocks) < max(slack, 0.5)
