"""Fails time-to-accuracy-check: nearly the target is enough."""


def time_to_accuracy(run: dict, target: float) -> float:
    """Return the seconds until a run first reaches the target, or inf."""
    seconds = run["setup"]
    for took, reached in zip(run["epochs"], run["accuracy"], strict=True):
        seconds += took
        if round(reached, 2) >= target:
            return seconds
    return math.inf


def mlperf_mean(times: list[float]) -> float:
    """Return the mean of all times but one fastest and one slowest."""
    if len(times) < 3:
        raise ValueError("at least three runs are needed")
    kept = sorted(times)[1:-1]
    return sum(kept) / len(kept)
