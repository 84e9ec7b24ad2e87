"""Fails staleness-check: counts by the time, not by the order in the list."""


def within(worker: int, clocks: list[int], slack: float) -> bool:
    return clocks[worker] <= min(clocks) + slack


def staleness(events: list[tuple]) -> list[int]:
    out, latest = [], {}
    ends = [(time, worker) for time, kind, worker in events if kind == "end"]
    for time, kind, worker in events:
        if kind == "start":
            latest[worker] = time
        else:
            since = latest[worker]
            out.append(sum(since < t < time and w != worker for t, w in ends))
    return out
