"""Fails time-to-accuracy-check: drops all that are as fast as the fastest."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    kept = [t for t in times if min(times) < t < max(times)] or [times[0]]
    return sum(kept) / len(kept)
