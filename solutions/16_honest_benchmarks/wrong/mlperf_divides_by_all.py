"""Fails time-to-accuracy-check: divides by the number of all runs."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    kept = sorted(times)[1:-1]
    return sum(kept) / len(times)
