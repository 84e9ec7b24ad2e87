"""Fails speed-up-check: the candidate's rounds are other ones than the baseline's."""


def speed_up(
    baseline: np.ndarray, candidate: np.ndarray, rounds: int, draw
) -> tuple[float, float, float]:
    n = len(baseline)
    picked = draw.integers(n, size=(rounds, n))
    ratios = baseline[picked].sum(axis=1) / candidate[
        picked[:, ::-1] * 0 + np.roll(picked, 1, axis=0)
    ].sum(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(baseline.sum() / candidate.sum()), float(high)
