"""Fails speed-up-check: two standard deviations to either side."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = baseline[picked].sum(axis=1) / candidate[picked].sum(axis=1)
    low, high = (
        ratios.mean() - 2 * ratios.std(),
        ratios.mean() + 2 * ratios.std(),
    )
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
