"""Fails costs-check: returns the place in the list and not the size."""


def best_size(compute_s, communication, sizes):
    steps = [compute_s / size + communication(size) for size in sizes]
    best = steps.index(min(steps))
    return best, compute_s / steps[best]
