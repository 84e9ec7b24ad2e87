"""Fails speed-up-check: candidate over baseline."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = candidate[picked].sum(axis=1) / baseline[picked].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(candidate.sum() / baseline.sum()), float(high)
