"""Fails speed-up-check: the middle 90 %."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = baseline[picked].sum(axis=1) / candidate[picked].sum(axis=1)
    low, high = np.percentile(ratios, [5, 95])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
