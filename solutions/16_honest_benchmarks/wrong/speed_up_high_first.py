"""Fails speed-up-check: high and low exchanged."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = baseline[picked].sum(axis=1) / candidate[picked].sum(axis=1)
    high, low = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
