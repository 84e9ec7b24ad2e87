"""Fails median-and-iqr-check: quotes the mean, which one slow run moves."""


def median_and_iqr(samples):
    if len(samples) == 0:
        raise ValueError("no samples")
    first, third = np.percentile(samples, [25, 75])
    return float(np.mean(samples)), float(third - first)
