"""Fails speed-up-check: sorts the caller's arrays."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    baseline /= 1000
    candidate /= 1000
    picked = draw.integers(n, size=(rounds, n))
    ratios = baseline[picked].sum(axis=1) / candidate[picked].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
