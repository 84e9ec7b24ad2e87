"""Fails staleness-check: compares with the lowest of the others, and one worker has none."""


def within(worker: int, clocks: list[int], slack: float) -> bool:
    others = clocks[:worker] + clocks[worker + 1 :]
    return clocks[worker] - min(others) <= slack


def staleness(events: list[tuple]) -> list[int]:
    total, began, out = 0, {}, []
    for _, kind, worker in events:
        if kind == "start":
            began[worker] = total
        else:
            out.append(total - began[worker])
            total += 1
    return out
