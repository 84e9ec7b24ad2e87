"""Fails median-and-iqr-check: returns nan for no samples instead of raising."""


def median_and_iqr(samples):
    if len(samples) == 0:
        return float("nan"), float("nan")
    first, median, third = np.percentile(samples, [25, 50, 75])
    return float(median), float(third - first)
