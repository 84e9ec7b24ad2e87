"""Fails time-to-accuracy-check: returns inf for fewer than three runs."""


def mlperf_mean(times: list[float]) -> float:
    if len(times) < 3:
        return math.inf
    kept = sorted(times)[1:-1]
    return sum(kept) / len(kept)
