"""Fails speed-up-check: each round once: a permutation."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = np.argsort(draw.random((rounds, n)), axis=1)
    ratios = baseline[picked].sum(axis=1) / candidate[picked].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
