"""Fails speed-up-check: medians, not sums."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = np.median(baseline[picked], axis=1) / np.median(
        candidate[picked], axis=1
    )
    low, high = np.percentile(ratios, [2.5, 97.5])
    return (
        float(low),
        float(np.median(baseline) / np.median(candidate)),
        float(high),
    )
