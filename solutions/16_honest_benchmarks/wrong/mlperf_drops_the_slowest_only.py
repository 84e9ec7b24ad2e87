"""Fails time-to-accuracy-check: the fastest stays."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    kept = sorted(times)[:-1]
    return sum(kept) / len(kept)
