"""Fails costs-check: of equal steps the size that comes first, and not the smallest."""


def best_size(compute_s, communication, sizes):
    times = [compute_s / p + communication(p) for p in sizes]
    best = min(times)
    return sizes[times.index(best)], compute_s / best
