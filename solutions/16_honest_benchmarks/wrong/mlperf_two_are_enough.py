"""Fails time-to-accuracy-check: takes two runs as well."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 2:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    kept = sorted(times)[1:-1] or times
    return sum(kept) / len(kept)
