"""Fails costs-check: sorts the caller's list."""


def best_size(compute_s, communication, sizes):
    sizes.sort()
    steps = [compute_s / size + communication(size) for size in sizes]
    best = steps.index(min(steps))
    return sizes[best], compute_s / steps[best]
