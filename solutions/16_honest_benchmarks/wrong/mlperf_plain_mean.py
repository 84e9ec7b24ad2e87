"""Fails time-to-accuracy-check: the mean of all."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        raise ValueError(f"{len(times)} runs, at least 3 are needed")
    kept = sorted(times)
    return sum(kept) / len(kept)
