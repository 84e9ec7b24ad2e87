"""Fails time-to-accuracy-check: drops the first and the last, not the fastest and the slowest."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    kept = times[1:-1]
    return sum(kept) / len(kept)
