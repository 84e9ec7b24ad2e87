"""Fails speed-up-check: the middle is the mean of the resamples."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = baseline[picked].sum(axis=1) / candidate[picked].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(ratios.mean()), float(high)
