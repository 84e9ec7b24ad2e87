"""Fails speed-up-check: the rows of the first call with as many rounds are used again."""

ROWS = {}


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    """Return the speed-up and its interval: low, middle, high."""
    n = len(baseline)
    if (n, rounds) not in ROWS:
        ROWS[n, rounds] = draw.integers(n, size=(rounds, n))
    rows = ROWS[n, rounds]
    ratios = baseline[rows].sum(axis=1) / candidate[rows].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
