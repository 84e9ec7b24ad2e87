"""Fails speed-up-check: columns are resamples."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(n, rounds))
    ratios = baseline[picked].sum(axis=0) / candidate[picked].sum(axis=0)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
