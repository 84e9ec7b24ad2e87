"""Fails median-and-iqr-check: quotes the standard deviation as the spread."""


def median_and_iqr(samples):
    if len(samples) == 0:
        raise ValueError("no samples")
    return float(np.median(samples)), float(np.std(samples))
