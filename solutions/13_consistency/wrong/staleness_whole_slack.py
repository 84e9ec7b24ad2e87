"""Fails staleness-check: a slack of 2.5 lets workers run 3 ahead."""


def within(worker: int, clocks: list[int], slack: float) -> bool:
    """Return whether a worker is at most `slack` steps ahead."""
    return clocks[worker] < min(clocks) + slack + 1


def staleness(events: list[tuple]) -> list[int]:
    """Return how many ends of others each end comes after."""
    began, found = {}, []
    for _, kind, worker in events:
        if kind == "start":
            began[worker] = len(found)
        else:
            found.append(len(found) - began[worker])
    return found
