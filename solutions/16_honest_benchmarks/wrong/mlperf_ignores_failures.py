"""Fails time-to-accuracy-check: leaves out all runs that never arrive."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    kept = sorted(t for t in times if t < math.inf)[1:-1] or times
    return sum(kept) / len(kept)
