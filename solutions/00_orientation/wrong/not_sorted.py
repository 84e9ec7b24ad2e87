"""Fails median-and-iqr-check: takes the middle of the list as it comes."""


def median_and_iqr(samples):
    if len(samples) == 0:
        raise ValueError("no samples")
    n = len(samples)
    middle = (
        samples[n // 2]
        if n % 2
        else (samples[n // 2 - 1] + samples[n // 2]) / 2
    )
    return float(middle), float(
        np.percentile(samples, 75) - np.percentile(samples, 25)
    )
