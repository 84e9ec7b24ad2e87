"""Fails time-to-accuracy-check: of many runs a tenth is left out at each end."""


def time_to_accuracy(run: dict, target: float) -> float:
    """Return the seconds until a run first reaches the target, or inf."""
    seconds = run["setup"]
    for took, reached in zip(run["epochs"], run["accuracy"], strict=True):
        seconds += took
        if reached >= target:
            return seconds
    return math.inf


def mlperf_mean(times: list[float]) -> float:
    """Return the mean of all times but one fastest and one slowest."""
    if len(times) < 3:
        raise ValueError("at least three runs are needed")
    drop = max(1, len(times) // 10)
    kept = sorted(times)[drop:-drop]
    return sum(kept) / len(kept)
