"""Fails speed-up-check: a generator of its own."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = np.random.default_rng(0).integers(n, size=(rounds, n))
    ratios = baseline[picked].sum(axis=1) / candidate[picked].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
