"""Fails time-to-accuracy-check: sorts the caller's list."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    times.sort()
    kept = times[1:-1]
    return sum(kept) / len(kept)
