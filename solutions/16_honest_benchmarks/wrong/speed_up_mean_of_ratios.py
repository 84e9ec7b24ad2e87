"""Fails speed-up-check: the mean of the rounds' ratios."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = (baseline / candidate)[picked].mean(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float((baseline / candidate).mean()), float(high)
