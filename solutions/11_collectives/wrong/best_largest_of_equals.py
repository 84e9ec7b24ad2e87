"""Fails costs-check: of several shortest steps the largest size."""


def best_size(compute_s, communication, sizes):
    least, size = min(
        (compute_s / size + communication(size), -size) for size in sizes
    )
    return -size, compute_s / least
